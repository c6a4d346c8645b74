"""What the conductor and the process that scores one model say to each other: one JSON line each."""

import msgspec
from bench_core.protocol import Message

from bench_score.config import ScoreConfig


class Start(Message, frozen=True, tag="start"):
    """Score one model of a configuration; the first and only request."""

    config: ScoreConfig
    label: str
    dataset: str  # path under which it is kept by content
    data_sha256: str
    cache: str
    at_once: int
    memory_limit_bytes: int | None
    lock_sha256: str | None
    made_by: dict[str, str]


class Scoring(Message, frozen=True, tag="scoring"):
    """How many structures are done."""

    done: int
    total: int


class Scored(Message, frozen=True, tag="scored"):
    """The part of this model is written."""


class Refused(Message, frozen=True, tag="refused"):
    """A mistake that every model of the run would meet: the configuration, the data or the disk."""

    reason: str
    code: int


Reply = Scoring | Scored | Refused

_starts = msgspec.json.Decoder(Start)
_replies = msgspec.json.Decoder(Reply)


def decode_start(line: bytes) -> Start:
    return _starts.decode(line)


def decode_reply(line: bytes) -> Reply:
    """Raises msgspec.DecodeError for anything a worker would not say."""
    return _replies.decode(line)
