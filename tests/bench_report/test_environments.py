"""The environment table."""

from bench_report.environments import environment_table
from bench_report.sections import sections

from tests.bench_report.factory import ENVIRONMENT, make_bundle, make_result


def properties(**environment: object) -> dict[str, str]:
    table = environment_table(
        sections([make_bundle([make_result("ant", {"A": 1e-3})], environment={**ENVIRONMENT, **environment})])
    )
    assert table.heads == ("property", "run-a")
    return {name: cells[0].text for name, cells in table.rows}


def test_the_machine_the_versions_and_the_items_are_named() -> None:
    found = properties(memory_total_bytes=16 * 1024**3, turbo=False, governors=["performance"])
    assert found["processor"] == "Example CPU @ 2.60GHz"
    assert found["memory"].replace("\u00a0", " ") == "16.0 GiB"
    assert (found["turbo"], found["simultaneous multithreading"]) == ("off", "not known")
    assert found["frequency governor"] == "performance"
    assert found["version of ant"] == "1.2.3"
    assert found["version of numpy"] == "2.4.6"
    assert found["items"].startswith("32 of sample, fingerprint 0123456789ab")


def test_uncommitted_changes_are_said() -> None:
    assert properties()["bench"] == "c0ffeec0ffee"
    assert properties(git_dirty=True)["bench"] == "c0ffeec0ffee, with uncommitted changes"
    assert properties(git_commit=None)["bench"] == "at an unknown commit"


def test_every_run_has_a_column_and_what_one_lacks_is_a_dash() -> None:
    one = make_bundle([make_result("ant", {"A": 1e-3})], "run-a")
    other = make_bundle([make_result("mole", {"A": 1e-3})], "run-b")
    table = environment_table(sections([other, one]))
    assert table.heads == ("property", "run-a", "run-b")
    row = dict(table.rows)["version of mole"]
    assert [cell.text for cell in row] == ["–", "1.2.3"]
