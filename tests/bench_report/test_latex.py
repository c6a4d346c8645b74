"""LaTeX of a report."""

import re

import pytest
from bench_core.results import Status
from bench_report.latex import escape, render
from bench_report.report import Options, build_report

from tests.bench_report.factory import make_bundle, make_result, not_measured


def test_every_special_character_is_set_as_itself() -> None:
    assert escape(r"\input{x}") == r"\textbackslash{}input\{x\}"
    assert escape("50 % & #1_2 $x$ ~^") == r"50 \% \& \#1\_2 \$x\$ \textasciitilde{}\textasciicircum{}"
    assert escape("2\u00a0× 1–3 µs ≈…") == (
        r"2~\ensuremath{\times} 1\textendash{}3 \textmu{}s \ensuremath{\approx}\ldots{}"
    )


@pytest.mark.parametrize(("text", "expected"), [("é", "e"), ("日", "?"), ("\u202eabc", "abc"), ("a\nb", "a b")])
def test_what_has_no_glyph_is_reduced(text: str, expected: str) -> None:
    assert escape(text) == expected


def test_a_report_is_balanced_and_a_result_runs_no_command() -> None:
    evil = r"\write18{rm}%{$&"
    results = [
        make_result("ant", {"Resize": 1e-3, "[x]": 1e-3, evil: not_measured(Status.ERROR, evil)}),
        make_result("mole_x", {"Resize": 2e-3, "[x]": 1e-3, evil: 1e-3}),
    ]
    text = render(build_report([make_bundle(results)], Options()))
    assert r"\write18" not in text
    assert text.isascii()
    bare = re.sub(r"\\[{}%&$#_\\]", "", text)
    assert bare.count("{") == bare.count("}")
    assert text.count(r"\begin{longtable}{lrr}") == text.count(r"\end{longtable}") == 2
    rows = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert rows
    assert all(len(re.findall(r"(?<!\\)&", row)) == 2 for row in rows)
    assert r"\textbf{" in text
    assert "{}[x]" in text
