"""What a configuration may say, in every form, and what is refused with the nearest word that is known."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench_core import policy
from bench_core.errors import BenchError, ExitCode
from bench_score import metrics
from bench_score.config import (
    ScoreConfig,
    config_sha256,
    dump_config,
    load_config,
    parse_config,
)
from bench_score.label import file_stem
from bench_score.parts import data_folder

MODEL = {"label": "one", "family": "mock_family"}
PLAIN: dict[str, Any] = {"name": "plain", "models": [MODEL], "data": {"name": "dcdft"}}
BASE = Path("/somewhere")


def parsed(**changes: Any) -> ScoreConfig:
    said = {key: value for key, value in (PLAIN | changes).items() if value is not None}
    return parse_config(said, base=BASE)


def refusal(**changes: Any) -> str:
    with pytest.raises(BenchError) as caught:
        parsed(**changes)
    assert caught.value.code is ExitCode.USAGE
    assert "\n" not in str(caught.value)
    return str(caught.value)


# Metrics


@pytest.mark.parametrize(
    ("said", "targets", "expected"),
    [
        ({"energy": ["mae", "q95"]}, None, [("energy", "mae"), ("energy", "q95")]),
        ({"forces": "mae", "energy": "r2"}, None, [("forces", "mae"), ("energy", "r2")]),
        ([["energy", "mae"], ["forces", "rmse"]], None, [("energy", "mae"), ("forces", "rmse")]),
        (["mae", "r2"], ["forces"], [("forces", "mae"), ("forces", "r2")]),
        (["mae"], None, [("energy", "mae"), ("forces", "mae"), ("stress", "mae")]),
        ("mae", ["energy", "stress"], [("energy", "mae"), ("stress", "mae")]),
        (None, ["energy"], [("energy", "mae"), ("energy", "rmse")]),
        (
            None,
            None,
            [
                *(("energy", "mae"), ("energy", "rmse"), ("forces", "mae"), ("forces", "rmse")),
                ("stress", "mae"),
            ],
        ),
    ],
)
def test_metrics_are_a_table_pairs_or_names_with_targets(said: Any, targets: Any, expected: Any) -> None:
    assert list(parsed(metrics=said, targets=targets).metrics) == expected


@pytest.mark.parametrize(
    ("said", "targets", "words"),
    [
        ({"enrgy": ["mae"]}, None, "unknown target 'enrgy'; did you mean 'energy'?"),
        ({"energy": ["rmes"]}, None, "unknown metric 'rmes'; did you mean 'rmse'?"),
        (["mae"], ["force"], "unknown target 'force'; did you mean 'forces'?"),
        ([["energy", "mae"], ["energy", "mae"]], None, "metrics: energy mae is there twice"),
        ({"energy": ["mae"]}, ["energy"], "metrics says its targets itself"),
        ([["energy", "mae"]], ["energy"], "metrics says its targets itself"),
        ([["energy", "mae", "rmse"]], None, "write a table"),
        ([], None, "write a table"),
        ({}, None, "write a table"),
        ({"energy": []}, None, "write a table"),
        ({"energy": [1]}, None, "write a table"),
        (3, None, "write a table"),
        (["mae"], [], "targets: write a list of names"),
        (["mae"], "energy", "targets: write a list of names"),
    ],
)
def test_other_metrics_are_refused(said: Any, targets: Any, words: str) -> None:
    assert words in refusal(metrics=said, targets=targets)


def test_a_metric_of_ones_own_is_known_by_its_name() -> None:
    own = [{"name": "spread", "function": "numpy:ptp", "unit": ""}]
    assert parsed(metrics={"energy": ["spread"]}, custom_metrics=own).custom_metrics[0].unit == ""
    assert "did you mean 'spread'" in refusal(metrics={"energy": ["sprad"]}, custom_metrics=own)


def test_a_registered_metric_is_known_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_registered", {"bias": max})
    assert parsed(metrics={"energy": ["bias"]}).metrics == (("energy", "bias"),)


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({"name": "mae", "function": "a:b"}, "no built-in metric's name"),
        ({"name": "q95", "function": "a:b"}, "no built-in metric's name"),
        ({"name": "My Own", "function": "a:b"}, "small letters"),
        ({"name": "mae_low", "function": "a:b"}, "none that ends with _low"),
        ({"name": "own", "function": "a.b"}, "function is written module:function"),
        ({"name": "own", "function": "a:b; import os"}, "function is written module:function"),
        ({"name": "own", "function": "../a:b"}, "function is written module:function"),
        ({"name": "own", "function": "a:b", "unit": "e\nV"}, "is not a line of text"),
        ({"name": "own", "functoin": "a:b"}, "custom_metrics[0]: unknown key 'functoin'; did you mean 'function'"),
        ({"name": "own"}, "missing required field `function`"),
    ],
)
def test_another_metric_of_ones_own_is_refused(own: Mapping[str, str], words: str) -> None:
    assert words in refusal(custom_metrics=[own])


def test_two_metrics_of_ones_own_have_two_names() -> None:
    assert "have one name" in refusal(custom_metrics=[{"name": "own", "function": "a:b"}] * 2)


def test_a_module_beside_the_configuration_is_found_from_anywhere(tmp_path: Path) -> None:
    (tmp_path / "mine.py").touch()
    own = [{"name": "own", "function": "mine:f"}, {"name": "other", "function": "elsewhere.deep:f"}]
    config = parse_config(PLAIN | {"custom_metrics": own}, base=tmp_path)
    assert [metric.folder for metric in config.custom_metrics] == [str(tmp_path), None]


# Keys and values


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"modles": []}, "unknown key 'modles'; did you mean 'models'?"),
        ({"target": []}, "unknown key 'target'; did you mean 'targets'?"),
        ({"data": {"name": "dcdft", "batchsize": 3}}, "data: unknown key 'batchsize'; did you mean 'batch_size'?"),
        ({"output": {"folder": "x"}}, "output: unknown key 'folder'"),
        ({"models": [MODEL | {"checkpiont": "x"}]}, "models[0]: unknown key 'checkpiont'; did you mean 'checkpoint'?"),
        ({"models": [MODEL, {"lable": "x"}]}, "models[1]: unknown key 'lable'; did you mean 'label'?"),
        ({"models": []}, "models is empty"),
        ({"models": None}, "missing required field `models`"),
        ({"models": MODEL}, "Expected `array`"),
        ({"models": ["one"]}, "Expected `object`"),
        ({"models": [MODEL | {"options": 3}]}, "Expected `object`"),
        ({"data": "dcdft"}, "Expected `object`"),
        ({"data": None}, "missing required field `data`"),
        ({"data": {}}, "data: say which"),
        ({"data": {"name": "dcdft", "test": "a.xyz"}}, "name and a file are both said"),
        ({"data": {"name": "dcdft", "energy": "REF"}}, "data.energy says how a file is read; 'dcdft' is none"),
        ({"data": {"name": "dcdft", "stress_sign": -1}}, "data.stress_sign says how a file is read"),
        ({"data": {"test": "a", "batch_size": 0}}, "data.batch_size = 0: must be at least 1"),
        ({"data": {"test": "a", "batch_size": 2.5}}, "Expected `int`"),
        ({"data": {"test": "a", "batch_size": True}}, "Expected `int`"),
        ({"data": {"test": "a", "workers": 0}}, "data.workers = 0"),
        ({"data": {"test": "a", "energy_unit": "ev"}}, "unknown unit of energy 'ev'; did you mean 'eV'?"),
        ({"data": {"test": "a", "stress_sign": 2}}, "stress_sign is 2"),
        ({"device": "gup"}, "unknown device 'gup'; did you mean 'gpu'?"),
        ({"seed": -1}, "seed = -1: must be at least 0"),
        ({"seed": 2**70}, "seed"),
        ({"threads": 0}, "threads = 0: must be at least 1"),
        ({"timeout_sec": 0}, "timeout_sec = 0.0: must be at least 1"),
        ({"timeout_sec": float("inf")}, "inf is no finite number"),
        ({"memory_limit_bytes": 0}, "memory_limit_bytes = 0: must be at least 1"),
        ({"models": [MODEL | {"options": {"a": [float("nan")]}}]}, "nan is no finite number"),
        ({"units": {"energy": "mev"}}, "unknown unit 'mev'; did you mean 'meV'?"),
        ({"units": {"force": "eV/A"}}, "unknown target 'force'; did you mean 'forces'?"),
        ({"units": {"forces": "eV/A/atom"}}, "unknown unit 'eV/A/atom'"),
        ({"units": {"energy": "meV/atom"}, "energy_per_atom": False}, "leave /atom out"),
        ({"name": "a/b"}, "it names a folder"),
        ({"name": ".."}, "it names a folder"),
        ({"atomic_energies": "averge"}, "unknown atomic_energies 'averge'; did you mean 'average'?"),
        ({"atomic_energies": {"Xx": 1.0}}, "'Xx' is no element"),
        ({"atomic_energies": {"X": 1.0}}, "'X' is no element"),
        ({"atomic_energies": {"H": "much"}}, "Expected `float"),
        ({"atomic_energies": {"H": [1.0]}}, "Expected `float"),
        ({"atomic_energies": {"H": float("nan")}}, "nan is no finite number"),
        ({"atomic_energies": [1.0, 2.0]}, "species has to name its 2 elements"),
        ({"atomic_energies": [1.0, 2.0], "species": ["H"]}, "species has to name its 2 elements"),
        ({"atomic_energies": [1.0, 2.0], "species": ["H", "H"]}, "species has to name its 2 elements"),
        ({"atomic_energies": {"H": 1.0}, "species": ["H"]}, "species belongs to a list"),
        ({"species": ["H"]}, "species belongs to a list"),
    ],
)
def test_what_is_unknown_or_impossible_is_refused(changes: dict[str, Any], words: str) -> None:
    assert words in refusal(**changes)


@pytest.mark.parametrize(
    ("said", "species", "expected"),
    [
        ({"H": -13, "O": -2.5}, None, {"H": -13.0, "O": -2.5}),
        ([-13, -2.5], ["H", "O"], {"H": -13.0, "O": -2.5}),
        (-3, None, -3.0),
        ("average", None, "average"),
        ("group", None, "group"),
        (None, None, None),
    ],
)
def test_atomic_energies_are_a_table_a_list_a_number_or_a_word(said: Any, species: Any, expected: Any) -> None:
    assert parsed(atomic_energies=said, species=species).atomic_energies == expected


def test_defaults_are_the_policys() -> None:
    config = parsed()
    assert (config.seed, config.threads, config.timeout_sec) == (
        policy.SEED,
        policy.THREADS,
        policy.SCORE_SILENCE_SEC,
    )
    assert config.data.batch_size == policy.SCORE_BATCH_SIZE
    assert config.entries()[0].trust_checkpoint is False


# Labels and other names of files


@pytest.mark.parametrize(
    "label",
    [
        *("../x", "/etc/passwd", "..", ".", "...", "con", "a/b", "a\\b", "-rf", "~", "~root", " a", "a b", ".hidden"),
        *("ä", "模型", "a:b", "a|b", "a*?", "$(reboot)", "x" * 100, "ä" * 100, "a.json", "structures.npz", "C:\\x"),
    ],
)
def test_a_label_cannot_leave_its_folder(tmp_path: Path, label: str) -> None:
    assert parsed(models=[MODEL | {"label": label}]).models[0].label == label
    stem = file_stem(label)
    for name in (stem, f"{stem}_score_results.json", f".{stem}_predictions.npz.12345678"):
        path = tmp_path / name
        path.write_text("")
        assert path.resolve().parent == tmp_path.resolve()
    assert stem not in {"", ".", ".."}
    assert stem.isascii()


@pytest.mark.parametrize("label", ["", " ", "a\nb", "a\x1b[2Jb", "a\x00", "a\u202eb", "a\u200bb", "x" * 101])
def test_a_label_that_a_person_could_not_read_is_refused(label: str) -> None:
    assert "one line of 1 to 100 visible characters" in refusal(models=[MODEL | {"label": label}])


@pytest.mark.parametrize(
    ("one", "other"), [("a/b", "a b"), ("a.", "a"), ("ä", "ö"), ("../a", "a"), ("x" * 99, "x" * 98)]
)
def test_two_labels_are_two_files(one: str, other: str) -> None:
    assert file_stem(one) != file_stem(other)
    parsed(models=[MODEL | {"label": one}, MODEL | {"label": other}])


def test_labels_that_differ_in_case_alone_are_refused_for_file_systems_that_do_not_see_it() -> None:
    assert "labels 'A' and 'a' would be one file" in refusal(models=[MODEL | {"label": "A"}, MODEL | {"label": "a"}])


def test_one_label_twice_is_refused_as_such() -> None:
    twice = json.loads(json.dumps([MODEL, MODEL]))  # two objects of equal text
    assert "two models are called 'one'" in refusal(models=twice)


@pytest.mark.parametrize(
    "name", ["a/b", "..", "", "/x", ".x", "environment", "Environment", "resolved_config", "COMMITTED", "my_results"]
)
def test_a_table_is_not_called_as_a_file_of_the_run_is(name: str) -> None:
    assert "output.filename" in refusal(output={"filename": name})


@pytest.mark.parametrize(
    "name", ["parts", "Parts", "logs", "../x", "environment.json", "scores.csv", "..", "a/b", ".lock"]
)
def test_a_dataset_of_any_name_has_a_folder_that_is_nothing_else(tmp_path: Path, name: str) -> None:
    config = parse_config(PLAIN | {"output": {"dir": str(tmp_path)}}, base=BASE)
    folder = data_folder(config, name)
    assert folder.parent == tmp_path
    assert folder.name.lower() not in {"parts", "logs", "environment.json", "scores.csv", ".lock", "..", "."}


def test_datasets_of_two_names_have_two_folders(tmp_path: Path) -> None:
    config = parse_config(PLAIN | {"output": {"dir": str(tmp_path)}}, base=BASE)
    names = ["parts", "data parts", "a.b", "a_b", "data a.b", "data a_b", "dcdft"]
    assert len({data_folder(config, name) for name in names}) == len(names)
    assert data_folder(config, "dcdft").name == "dcdft"


# Files


TOML = """
metrics = { energy = ["mae"] }
[data]
test = "sub/test.xyz"
val = "/abs/val.xyz"
[output]
dir = "out"
[[models]]
label = "one"
family = "mock_family"
checkpoint = "weights/one.pt"
[[models]]
label = "two"
family = "mock_family"
checkpoint = "two"
[models.architecture]
config = "architecture.toml"
layers = 3
"""
YAML = """
metrics: {energy: [mae]}
data: {test: sub/test.xyz, val: /abs/val.xyz}
output: {dir: out}
models:
  - {label: one, family: mock_family, checkpoint: weights/one.pt}
  - label: two
    family: mock_family
    checkpoint: two
    architecture: {config: architecture.toml, layers: 3}
"""


def written(folder: Path, text: str, name: str = "my run.toml") -> Path:
    (folder / "architecture.toml").write_text('name = "schnet"\nlayers = 2\n')
    (folder / name).write_text(text)
    return folder / name


def test_toml_and_yaml_say_the_same(tmp_path: Path) -> None:
    toml, yaml = (load_config(written(tmp_path, text, f"run{end}")) for text, end in ((TOML, ".toml"), (YAML, ".yaml")))
    assert toml == yaml


def test_relative_paths_start_at_the_files_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, TOML)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    config = load_config(Path("..") / path.name)
    assert config.name == "my-run"
    assert Path(str(config.data.test)).resolve() == tmp_path / "sub" / "test.xyz"
    assert config.data.val == "/abs/val.xyz"
    assert Path(str(config.output.dir)).resolve() == tmp_path / "out"
    assert Path(str(config.models[0].checkpoint)).resolve() == tmp_path / "weights" / "one.pt"
    assert config.models[1].checkpoint == "two"  # a name that the family knows
    (tmp_path / "two").touch()
    assert Path(str(load_config(path).models[1].checkpoint)) == tmp_path / "two"  # a file


def test_an_architecture_may_be_in_a_file_and_what_stands_beside_counts_more(tmp_path: Path) -> None:
    assert load_config(written(tmp_path, TOML)).models[1].architecture == {"name": "schnet", "layers": 3}


@pytest.mark.parametrize(
    ("text", "words"), [(None, "cannot be read"), ("= 3", "architecture"), ("x = '''", "architecture")]
)
def test_an_architecture_that_cannot_be_read_is_refused(tmp_path: Path, text: str | None, words: str) -> None:
    path = written(tmp_path, TOML)
    (tmp_path / "architecture.toml").unlink()
    if text is not None:
        (tmp_path / "architecture.toml").write_text(text)
    with pytest.raises(BenchError, match="model 'two'") as caught:
        load_config(path)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"test": "a", "val": "b", "train": "c"}, "a"),
        ({"val": "b", "train": "c"}, "b"),
        ({"train": "c"}, "c"),
    ],
)
def test_the_data_are_test_or_else_val_or_else_train(said: dict[str, str], expected: str) -> None:
    assert parsed(data=said).data.path == str(BASE / expected)


def test_the_resolved_configuration_is_the_same_when_it_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "mine.py").touch()
    said = {
        "custom_metrics": [{"name": "own", "function": "mine:f", "unit": ""}],
        "metrics": {"energy": ["own", "q99.5"], "stress": ["mae"]},
        "atomic_energies": {"H": -13, "O": 1e-300},
        "units": {"energy": "meV"},
        "models": [MODEL | {"options": {"modal": "PBE", "deep": {"list": [1, 2.5, "x", True]}}}],
        "output": {"dir": "out", "formats": ["md"]},
        "timeout_sec": 3,
    }
    config = parse_config(PLAIN | said, base=tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "resolved_config.toml").write_text(dump_config(config))
    again = load_config(tmp_path / "elsewhere" / "resolved_config.toml")
    assert again == config
    assert config_sha256(again) == config_sha256(config)


def test_what_decides_no_number_is_not_in_the_digest() -> None:
    digest = config_sha256(parsed())
    assert config_sha256(parsed(output={"dir": "/other", "formats": ["md"]}, name="other")) == digest
    for changes in ({"seed": 1}, {"models": [MODEL | {"checkpoint": "2"}]}, {"metrics": ["mae"]}, {"threads": 2}):
        assert config_sha256(parsed(**changes)) != digest


def test_a_configuration_survives_the_way_to_another_process() -> None:
    config = parsed(atomic_energies={"H": -13}, models=[MODEL | {"options": {"a": 1}}])
    again = msgspec.json.decode(msgspec.json.encode(config), type=ScoreConfig)
    assert again == config
    assert config_sha256(again) == config_sha256(config)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.toml", "= 3"),
        ("a.toml", "x" * 100_000),
        ("a.toml", "a = " + "[" * 5000),
        ("a.yaml", "a: ["),
        ("a.yaml", "- a"),
        ("a.yaml", ""),
        ("a.yaml", "a: " + "[" * 1200),
        ("a.yaml", "x" * 100_000),
        ("a.yaml", "a: &a [x, x]\nb: [*a, *a]"),
        ("a.yaml", "a: &a [*a]"),
        ("a.yaml", "a: !!python/object/apply:os.system ['touch /tmp/pwned']"),
        ("a.yaml", "1: 2"),
        ("a.yaml", "\x00"),
        ("a.yaml", "a: 1\na: 2\nmodels: 3"),
    ],
)
def test_a_file_that_is_no_configuration_is_a_sentence(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BenchError) as caught:
        load_config(tmp_path / name)
    assert str(caught.value).startswith(str(tmp_path / name))


@pytest.mark.parametrize("path", ["missing.toml", "missing.yaml", "."])
def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path, path: str) -> None:
    with pytest.raises(BenchError, match="cannot be read"):
        load_config(tmp_path / path)


# --set


@pytest.mark.parametrize(
    ("assignment", "key", "expected"),
    [
        ("data.batch_size=4", "data.batch_size", 4),
        ("data.batch_size = 4", "data.batch_size", 4),
        ("seed=7", "seed", 7),
        ("energy_per_atom=false", "energy_per_atom", False),
        ("name=other", "name", "other"),
        ("models.1.label=deux", "models.1.label", "deux"),
        ("models.0.options.modal=PBE", "models.0.options.modal", "PBE"),
        ('models.0={label="x", family="mock_family"}', "models.0.label", "x"),
        ("units.energy=meV", "units.energy", "meV"),
        ("atomic_energies={H=1.5}", "atomic_energies.H", 1.5),
        ('output.formats=["md"]', "output.formats", ["md"]),
        ("models.0.checkpoint=a=b", "models.0.checkpoint", "a=b"),
        ('data.energy="5"', "data.energy", "5"),
        ("models.0.level_of_theory=1\nseed = 3", "models.0.level_of_theory", "1\nseed = 3"),
    ],
)
def test_set_replaces_one_value_by_the_names_on_the_way(
    tmp_path: Path, assignment: str, key: str, expected: Any
) -> None:
    found: Any = msgspec.to_builtins(load_config(written(tmp_path, TOML), [assignment]))
    for name in key.split("."):
        found = found[int(name)] if isinstance(found, list | tuple) else found[name]
    assert (list(found) if isinstance(found, tuple) else found) == expected


def test_later_assignments_count_and_all_are_made_before_anything_is_checked(tmp_path: Path) -> None:
    path = written(tmp_path, TOML.replace('metrics = { energy = ["mae"] }', 'metrics = { wrong = ["mae"] }'))
    config = load_config(path, ['metrics=["mae"]', 'targets=["energy"]', "seed=1", "seed=2"])
    assert (config.seed, config.metrics) == (2, (("energy", "mae"),))


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("data.batchsize=4", "unknown key 'batchsize'; did you mean 'batch_size'?"),
        ("sede=4", "unknown key 'sede'; did you mean 'seed'?"),
        ("data.batch_size", "write key=value"),
        ("=4", "write key=value"),
        (".=4", "write key=value"),
        ("models.7.label=x", "'7' is no place in a list of 2"),
        ("models.one.label=x", "'one' is no place in a list of 2"),
        ("models.-1.label=x", "'-1' is no place in a list of 2"),
        ("models.2={}", "'2' is no place in a list of 2"),
        ("models.0.label.more=x", "label is a value, there is nothing below it"),
        ("data.batch_size=many", "Expected `int"),
        ("data=many", "Expected `object`"),
        ("models.0.label=../x\x1b", "visible characters"),
    ],
)
def test_set_refuses_what_leads_nowhere(tmp_path: Path, assignment: str, words: str) -> None:
    with pytest.raises(BenchError) as caught:
        load_config(written(tmp_path, TOML), [assignment])
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"models": [MODEL | {"checkpoint": "~nobody-at-all/x"}]},
        {"models": [MODEL | {"architecture": {"config": "~nobody-at-all/x.toml"}}]},
        {"output": {"dir": "~nobody-at-all/runs"}},
        {"data": {"test": "~nobody-at-all/x.xyz"}},
    ],
)
def test_a_home_folder_of_nobody_is_a_sentence(tmp_path: Path, changes: dict[str, Any]) -> None:
    raw = {"name": "x", "models": [MODEL], "data": {"test": "x.xyz"}} | changes
    with pytest.raises(BenchError, match=r"~nobody-at-all/.*: there is no such home folder"):
        parse_config(raw, base=tmp_path)
