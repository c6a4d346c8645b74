"""What the conductor and a worker say to each other: one JSON object a line, requests down and replies up."""

import msgspec

from bench_core.results import Conditions, Output, Status


class Message(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """Base of everything on the wire."""


class Start(Message, frozen=True, tag="start"):
    """First line to a worker: which library, which items, under which conditions."""

    library: str
    device: str
    threads: int
    isolation: str
    data_root: str  # folder of the items; names as in bench_core.dataset.Subset
    data_paths: tuple[str, ...]
    data_fingerprint: str
    lock_sha256: str | None
    memory_limit_bytes: int | None


class Preflight(Message, frozen=True, tag="preflight"):
    """Try a transform once, look at its output, and time a few items to see whether it is slow."""

    transform: str
    params: dict[str, object]
    seed: int
    items: int
    enough_sec: float  # stop early once this much was spent: the transform is slow whatever follows
    timeout_sec: float


class Measure(Message, frozen=True, tag="measure"):
    """Time one block: one value per seed. Each warm-up, each value and the end of the block waits for its turn."""

    transform: str
    params: dict[str, object]
    loops: int
    warmups: int
    seeds: tuple[int, ...]
    timeout_sec: float


class Go(Message, frozen=True, tag="go"):
    """It is your turn: answers a `Turn`."""


Request = Start | Preflight | Measure | Go


class Loading(Message, frozen=True, tag="loading"):
    """Progress of decoding the items."""

    done: int
    total: int


class Ready(Message, frozen=True, tag="ready"):
    """The worker has imported its library and holds its items."""

    versions: dict[str, str]
    native_format: str
    conditions: Conditions
    media_bytes: int
    import_sec: float
    rss_bytes: int


class Unavailable(Message, frozen=True, tag="unavailable"):
    """The worker cannot measure at all: the import failed, or the threads are not what was asked for."""

    reason: str
    detail: str | None = None


class Previewed(Message, frozen=True, tag="previewed"):
    """A transform works; what it takes and what it makes."""

    sec_per_item: float
    output: Output


class Tried(Message, frozen=True, tag="tried"):
    """The answer to a preflight: what is recorded, and a picture of the output, which the conductor writes."""

    preview: Previewed
    thumbnail_png: bytes


class BadData(Message, frozen=True, tag="bad_data"):
    """The items are not what was chosen, as this environment reads them."""

    reason: str


class Turn(Message, frozen=True, tag="turn"):
    """The next step of a measurement is ready, and waits for `Go`, so that only one library works at a time."""


class Measured(Message, frozen=True, tag="measured"):
    """One block's values in seconds per item, with the reference rows timed in the same process."""

    values_sec: tuple[float, ...]
    noop_sec: float
    yardstick_sec: float
    peak_rss_growth_bytes: int
    harness_sec: float  # wall time of the measuring process beyond what it timed or waited for its turn
    pyperf_json: str


class Failed(Message, frozen=True, tag="failed"):
    """A transform raised, crashed, hung or gave something that is no output."""

    status: Status
    reason: str
    detail: str | None = None


Reply = Loading | Ready | Unavailable | BadData | Tried | Turn | Measured | Failed

_encoder = msgspec.json.Encoder()
_requests = msgspec.json.Decoder(Request)
_replies = msgspec.json.Decoder(Reply)


def encode(message: Message) -> bytes:
    """One line, newline included."""
    return _encoder.encode(message) + b"\n"


def decode_request(line: bytes) -> Request:
    return _requests.decode(line)


def decode_reply(line: bytes) -> Reply:
    """Raises msgspec.DecodeError for anything a worker would not say."""
    return _replies.decode(line)
