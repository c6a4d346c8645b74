"""Documents with generated blocks: what stands between two markers is replaced, everything else is a person's.

<!-- results:begin NAME -->
<!-- results:end NAME -->
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench_core.errors import BenchError
from bench_core.files import write_atomically

from bench_report import markdown
from bench_report.report import Report

README = "README.md"
DETAILS = "docs/results.md"
# Every block there is; a report of one kind of runs leaves the other kind's as they are.
BLOCKS = {README: ("summary", "scores"), DETAILS: ("tables", "scores")}
_MARKER = re.compile(r"<!-- results:(begin|end) (\S+) -->")


def blocks(report: Report) -> dict[str, dict[str, str]]:
    """What a report puts where: document -> block name -> Markdown."""
    found: dict[str, dict[str, str]] = {README: {}, DETAILS: {}}
    if report.parts:
        found[README]["summary"] = markdown.summary(report, DETAILS)
        found[DETAILS]["tables"] = markdown.speed_tables(report)
    if report.score_parts:
        found[README]["scores"] = markdown.score_summary(report, DETAILS)
        found[DETAILS]["scores"] = markdown.score_tables(report)
    return found


def update_documents(root: Path, report: Report) -> list[Path]:
    """Replace the blocks of every document under `root`; return those whose text changed.

    All documents are read and checked before the first is written.

    Raises:
        BenchError: a document or a marker is missing, doubled or out of order; nothing was written.
    """
    changed: dict[Path, str] = {}
    for name, contents in blocks(report).items():
        path = root / name
        before = _read(path)
        after = replace_blocks(before, contents, path, BLOCKS[name])
        if after != before:
            changed[path] = after
    for path, text in changed.items():
        write_atomically(path, text.encode("utf-8"))
    return list(changed)


def outdated_blocks(root: Path, report: Report) -> list[str]:
    """Which blocks of the documents under `root` are not what the report would write: "README.md: MARKER".

    Raises:
        BenchError: a document or a marker is missing, doubled or out of order.
    """
    found = []
    for name, contents in blocks(report).items():
        path = root / name
        text = _read(path)
        whole = replace_blocks(text, contents, path, BLOCKS[name])
        if whole != text:
            now, then = _spans(text, path), _spans(whole, path)
            found += [
                f"{name}: <!-- results:begin {block} -->"
                for block in contents
                if text[slice(*now[block])] != whole[slice(*then[block])]
            ]
    return found


def replace_blocks(text: str, contents: Mapping[str, str], path: Path, known: Sequence[str] = ()) -> str:
    """`text` with each named block replaced; those of `known` may stand there too. `path` is for messages.

    Raises:
        BenchError: naming the file and the marker that is wrong.
    """
    spans = _spans(text, path)
    for name in contents:
        if name not in spans:
            raise BenchError(
                f"{path}: the marker <!-- results:begin {name} --> is missing; put it and "
                f"<!-- results:end {name} --> where the results should stand"
            )
    for name in spans:
        if name not in contents and name not in known:
            listed = ", ".join(dict.fromkeys([*contents, *known]))
            raise BenchError(f"{path}: nothing is made for the marker <!-- results:begin {name} -->; known: {listed}")
    for name in sorted(contents, key=lambda name: spans[name][0], reverse=True):
        begin, end = spans[name]
        text = f"{text[:begin]}\n\n{contents[name].strip()}\n\n{text[end:]}"
    return text


def _spans(text: str, path: Path) -> dict[str, tuple[int, int]]:
    """Where each block's content is: name -> from the end of its begin marker to the start of its end marker."""
    spans: dict[str, tuple[int, int]] = {}
    opened: re.Match[str] | None = None
    for marker in _MARKER.finditer(text):
        kind, name = marker.groups()
        if kind == "begin":
            if opened:
                raise _wrong(path, opened[0], f"is not ended before {marker[0]}")
            if name in spans:
                raise _wrong(path, marker[0], "is there twice")
            opened = marker
        elif opened is None or opened[2] != name:
            raise _wrong(path, marker[0], "ends what was not begun")
        else:
            spans[name] = (opened.end(), marker.start())
            opened = None
    if opened:
        raise _wrong(path, opened[0], f"has no <!-- results:end {opened[2]} -->")
    return spans


def _wrong(path: Path, marker: str, what: str) -> BenchError:
    return BenchError(f"{path}: the marker {marker} {what}; each block needs one begin and then one end")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise BenchError(f"{path}: no such document; --docs replaces blocks in it and does not make it") from error
    except (OSError, UnicodeDecodeError) as error:
        raise BenchError(f"{path}: cannot be read ({error})") from error
