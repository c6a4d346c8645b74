import pytest
from bench_core.workers import worker_environment


def test_no_variable_of_python_reaches_a_worker_but_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONPATH", "PYTHONMALLOC", "PYTHONOPTIMIZE", "PYTHONWARNINGS", "PYTHON_JIT"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    environment = worker_environment(2)
    assert {name for name in environment if name.startswith("PYTHON")} == {
        "PYTHONNOUSERSITE",
        "PYTHONSAFEPATH",
        "PYTHONUNBUFFERED",
    }
    assert environment["OMP_NUM_THREADS"] == "2"
