"""The files of a table."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench_core.errors import BenchError, ExitCode
from bench_core.results import Status
from bench_core.scores import Coverage, ScoreResult
from bench_score import writers
from bench_score.writers import records, register_writer, write_report
from markdown_it import MarkdownIt

from tests.bench_score.test_table import DATA, config, row, score

ROWS = [
    row("one", score(0.5, 0.4, 0.6), coverage=Coverage(12, 9, 0, {"O": 3}), trusted=True),
    row("other", score(1.5, 1.4, 1.6), coverage=Coverage(12, 9, 0, {"O": 3})),
    row("bad", status=Status.ERROR, reason="a | b\n<script>alert(1)</script>", coverage=None, timing=None),
]


@pytest.fixture(autouse=True)
def only_the_built_in_ones(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(writers, "_writers", dict(writers._writers))
    yield


def text_of(name: str, rows: list[ScoreResult] = ROWS, **changes: Any) -> str:
    return writers.find_writer(name)(config(**changes), rows)


def test_a_record_has_a_number_or_none_for_everything() -> None:
    one, _, bad = records(config(), ROWS)
    assert one["label"] == "one"
    assert one["energy_mae [eV/atom]"] == 0.5
    assert (one["energy_mae_low [eV/atom]"], one["energy_mae_high [eV/atom]"]) == (0.4, 0.6)
    assert one["energy_r2"] is None
    assert (one["num_structures"], one["num_scored"], one["missing_elements"]) == (12, 9, "O")
    assert (one["model_level_of_theory"], one["data_level_of_theory"]) == ("r2SCAN", "PBE")
    assert one["trusted_checkpoint"] is True
    assert one["n_params"] == 1234567
    assert bad["energy_mae [eV/atom]"] is None
    assert (bad["status"], bad["num_scored"]) == ("error", 0)
    assert one.keys() == bad.keys()


def test_csv_has_a_line_per_model_and_reads_back() -> None:
    found = list(csv.DictReader(io.StringIO(text_of("csv"))))
    assert [line["label"] for line in found] == ["one", "other", "bad"]
    assert float(found[0]["energy_mae [eV/atom]"]) == 0.5
    assert found[2]["energy_mae [eV/atom]"] == ""
    assert found[2]["reason"] == "a | b\n<script>alert(1)</script>"


@pytest.mark.parametrize("label", ["=cmd()", "+1", "-x", "@a", "\ta"])
def test_a_text_is_no_formula_to_a_spreadsheet(label: str) -> None:
    (line,) = csv.DictReader(io.StringIO(text_of("csv", [row(label, score(-0.5))])))
    assert line["label"] == f"'{label}"
    assert line["energy_mae [eV/atom]"] == "-0.5"


def test_csv_without_rows_is_a_head() -> None:
    assert text_of("csv", []) == "label\n"


def test_json_says_what_intervals_cover_and_holds_the_records() -> None:
    found = json.loads(text_of("json"))
    assert found["records"] == records(config(), ROWS)
    assert "bootstrap percentiles over groups of structures" in found["interval"]


def test_intervals_over_structures_say_so() -> None:
    alone = msgspec.structs.replace(DATA, num_groups=12)
    assert "percentiles over structures:" in text_of("json", [row("one", score(0.5), data=alone)])


def test_markdown_is_one_table_that_shows_what_was_said_and_runs_nothing() -> None:
    html = MarkdownIt("commonmark").enable("table").render(text_of("md"))
    assert html.count("<table>") == 1
    assert html.count("<tr>") == 4
    assert "<strong>0.5000</strong> (0.4000 to 0.6000)" in html
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "12 structures in 6 groups of some, labelled at PBE. Energies are relative to: as in the data." in html


def test_equal_footnotes_of_several_models_are_one() -> None:
    text = text_of("md")
    assert text.count("does not know O (3)") == 1
    assert text.count("9 of 12<sup>1</sup>") == 2
    assert "\n1. does not know O (3)" in text
    assert "\n2. error: a \\| b" in text


def test_a_pressure_is_told_to_be_all_that_was_compared() -> None:
    pressures = msgspec.structs.replace(DATA, pressure_only=True)
    assert writers.PRESSURE_ONLY in text_of("md", [row("one", score(0.5), data=pressures)])
    assert writers.PRESSURE_ONLY not in text_of("md")


@pytest.mark.parametrize("label", ["a|b", "**bold**", "[x](javascript:alert(1))", "<b>", "`x`", "# head", "~~x~~"])
def test_a_label_is_shown_as_it_is(label: str) -> None:
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text_of("md", [row(label, score(0.5))]))
    shown = label.replace("<", "&lt;").replace(">", "&gt;")
    assert f"<td>{shown}</td>" in html


def test_a_registered_format_is_written_beside_the_others(tmp_path: Path) -> None:
    @register_writer("txt")
    def count(cfg: Any, rows: Any) -> str:
        return f"{cfg.name}: {len(rows)}"

    paths = write_report(config(output={"dir": str(tmp_path), "formats": ["txt", "md"], "filename": "table"}), ROWS)
    assert [path.name for path in paths] == ["table.txt", "table.md"]
    assert (tmp_path / "table.txt").read_text() == "mocks: 3"


def test_an_unknown_format_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="unknown format 'mdd'; did you mean 'md'"):
        write_report(config(output={"dir": str(tmp_path), "formats": ["mdd"]}), ROWS)
    assert not list(tmp_path.iterdir())


def test_a_table_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(BenchError, match="cannot write") as caught:
        write_report(config(output={"dir": str(tmp_path / "out")}), ROWS)
    assert caught.value.code is ExitCode.OUTPUT
