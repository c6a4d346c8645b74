"""The line between a worker and the child that measures: framed messages up, one byte down for each turn."""

import os
import time

from bench_core import protocol

HEADER_BYTES = 8  # length of the message that follows
GO = b"g"


class Channel:
    """The child's end."""

    def __init__(self, write_fd: int, go_fd: int) -> None:
        self._write_fd, self._go_fd = write_fd, go_fd
        self.waited_sec = 0.0

    def send(self, message: protocol.Message) -> None:
        """Send a message with its length before it."""
        body = protocol.encode(message)
        data = memoryview(len(body).to_bytes(HEADER_BYTES, "big") + body)
        while data:
            data = data[os.write(self._write_fd, data) :]

    def report_ready(self, ready: protocol.Ready) -> None:
        """Say that everything is imported, so that the measurement's own limit begins; not counted as waiting.

        Raises:
            EOFError: the worker has gone.
        """
        self.send(ready)
        self._wait_for_go()

    def take_turn(self) -> None:
        """Say that the next step is ready, and wait until nobody else is measuring.

        Raises:
            EOFError: the worker has gone.
        """
        began = time.perf_counter()
        self.send(protocol.Turn())
        self._wait_for_go()
        self.waited_sec += time.perf_counter() - began

    def _wait_for_go(self) -> None:
        if os.read(self._go_fd, 1) != GO:
            raise EOFError("the worker has gone")


class Frame:
    """The worker's view of a message on its way: the bytes so far."""

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, chunk: bytes) -> None:
        self._data += chunk

    @property
    def body(self) -> bytes | None:
        """The message, once it is whole. A child sends nothing more before it is answered."""
        if len(self._data) < HEADER_BYTES:
            return None
        length = int.from_bytes(self._data[:HEADER_BYTES], "big")
        return bytes(self._data[HEADER_BYTES:]) if len(self._data) >= HEADER_BYTES + length else None
