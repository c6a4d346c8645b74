"""File names as text that any file, message or terminal can hold, and back.

A name may hold newlines, or bytes that are no text at all; JSON and a person can use neither. Printable
characters stay as they are, a backslash is doubled, any other byte becomes \\x and two hexadecimal digits.
"""

import re

_ESCAPE = re.compile(rb"\\(?:\\|x([0-9a-f]{2}))")


def name_to_text(name: str) -> str:
    """Text for a name as Python holds it (undecodable bytes as surrogates), the inverse of the next."""
    return "".join(_escape(character) for character in name)


def text_to_name(text: str) -> str:
    """The name that `name_to_text` made `text` from."""

    def restore(match: re.Match[bytes]) -> bytes:
        return bytes.fromhex(match[1].decode()) if match[1] else b"\\"

    return _ESCAPE.sub(restore, text.encode("utf-8")).decode("utf-8", "surrogateescape")


def _escape(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))
