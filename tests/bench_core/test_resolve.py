"""From profile, --set and flags to one configuration: precedence, narrowing, refusals, the way back."""

import shutil
from pathlib import Path

import pytest
from bench_core import policy
from bench_core.catalog import load_catalog
from bench_core.cli import Parser
from bench_core.config import Config, config_sha256, dump_config
from bench_core.errors import BenchError, ExitCode
from bench_core.matrix import load_matrix
from bench_core.options import add_config_arguments, config_from, config_of_run

ROOT = Path(__file__).parents[2]

TWO_MEDIA = """
python = "3.11"
[scenarios.image-rgb]
media = "image"
channels = 3
modes = ["micro", "pipeline"]
[scenarios.video-16f]
media = "video"
channels = 3
modes = ["micro"]
[groups.one]
package = "packages/one"
libraries = ["kornia", "pillow"]
media = ["image", "video"]
devices = ["cpu", "gpu"]
[groups.two]
package = "packages/two"
libraries = ["albumentationsx"]
media = ["image"]
devices = ["cpu"]
"""


def resolved(*arguments: str, root: Path = ROOT) -> Config:
    parser = Parser(prog="bench plan", allow_abbrev=False)
    add_config_arguments(parser)
    return config_from(parser.parse(arguments), root, load_matrix(root))


def refused(*arguments: str, root: Path = ROOT) -> str:
    with pytest.raises(BenchError) as caught:
        resolved(*arguments, root=root)
    assert caught.value.code is ExitCode.USAGE
    return str(caught.value)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with the real matrix and one profile."""
    shutil.copy(ROOT / "matrix.toml", tmp_path)
    (tmp_path / "profiles").mkdir()
    text = 'transforms = ["Resize", "Invert"]\nseed = 10\nnum_runs = 20\nprocesses = 30\n'
    (tmp_path / "profiles/base.toml").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def two_media(tmp_path: Path) -> Path:
    (tmp_path / "matrix.toml").write_text(TWO_MEDIA, encoding="utf-8")
    return tmp_path


def test_nothing_said_is_all_of_the_matrix_with_the_defaults_of_policy() -> None:
    config, matrix = resolved(), load_matrix(ROOT)
    assert config.libraries == matrix.all_libraries()
    assert config.groups == tuple(matrix.groups)
    assert config.scenarios == tuple(matrix.scenarios)
    assert config.transforms == tuple(load_catalog().transforms)
    assert (config.num_runs, config.seed, config.device) == (policy.NUM_RUNS, policy.SEED, policy.DEVICE)
    assert config.profile == "default"


def test_flags_beat_set_which_beats_the_profile_which_beats_policy(root: Path) -> None:
    config = resolved(
        "--profile", "base", "--set", "num_runs=21", "--set", "processes=31", "--processes", "32", root=root
    )
    assert (config.seed, config.num_runs, config.processes, config.threads) == (10, 21, 32, policy.THREADS)
    assert config.profile == "base"


def test_the_order_of_options_does_not_change_their_strength(root: Path) -> None:
    assert resolved("--seed", "1", "--set", "seed=2", "--profile", "base", root=root).seed == 1


def test_a_configuration_file_stands_in_the_profiles_place(root: Path) -> None:
    path = root / "mine.toml"
    path.write_text("seed = 11", encoding="utf-8")
    assert resolved("--config", str(path), root=root).seed == 11
    assert resolved("--config", str(path), "--set", "seed=12", root=root).seed == 12


def test_profile_and_config_do_not_go_together() -> None:
    assert "not allowed with argument" in refused("--profile", "quick", "--config", "x.toml")


def test_an_unknown_profile_is_refused_with_the_nearest() -> None:
    assert "--profile: unknown profile 'qiuck'; did you mean 'quick'?" in refused("--profile", "qiuck")


def test_names_are_repeated_or_separated_by_commas_and_come_in_the_matrixs_order() -> None:
    expected = ("torchvision", "kornia", "pillow")
    assert resolved("--library", "pillow,kornia", "--library", "torchvision").libraries == expected
    assert resolved("--transforms", "Invert,Resize").transforms == ("Resize", "Invert")


def test_a_group_is_its_libraries() -> None:
    config = resolved("--group", "torch_stack")
    assert (config.groups, config.libraries) == (("torch_stack",), ("torchvision", "kornia", "pillow"))


def test_a_library_brings_its_group_alone() -> None:
    assert resolved("--library", "kornia").groups == ("torch_stack",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--library", "kornai"), "--library: unknown library 'kornai'; did you mean 'kornia'?"),
        (("--group", "torch"), "--group: unknown group 'torch'; did you mean 'torch_stack'?"),
        (("--media", "imgae"), "--media: unknown media 'imgae'; did you mean 'image'?"),
        (("--scenario", "image-rbg"), "--scenario: unknown scenario 'image-rbg'; did you mean 'image-rgb'?"),
        (("--mode", "mirco"), "--mode: unknown mode 'mirco'; did you mean 'micro'?"),
        (("--device", "cpuu"), "--device: unknown device 'cpuu'; did you mean 'cpu'?"),
        (("--transforms", "Resise"), "--transforms: unknown transform 'Resise'; did you mean 'Resize'?"),
        (("--transform-set", "papper"), "--transform-set: unknown transform set 'papper'; did you mean 'paper'?"),
        (("--isolation", "spwan"), "unknown isolation 'spwan'; did you mean 'spawn'?"),
        (("--set", "librarie=kornia"), "unknown key 'librarie'; did you mean 'libraries'?"),
    ],
)
def test_an_unknown_name_is_refused_with_its_source_and_the_nearest(arguments: tuple[str, ...], message: str) -> None:
    assert message in refused(*arguments)


def test_an_unknown_name_in_a_profile_is_refused_with_the_profile(root: Path) -> None:
    (root / "profiles/base.toml").write_text('libraries = ["kornai"]', encoding="utf-8")
    assert refused("--profile", "base", root=root).startswith("profiles/base.toml: unknown library 'kornai'")


def test_a_library_outside_the_groups_said_beside_it_is_refused() -> None:
    message = refused("--group", "albx", "--library", "kornia")
    assert message.startswith("--library: library 'kornia' is of group 'torch_stack', but --group allows only albx")


def test_a_library_typed_against_a_profiles_group_is_refused(root: Path) -> None:
    (root / "profiles/base.toml").write_text('groups = ["albx"]', encoding="utf-8")
    assert "profiles/base.toml allows only albx" in refused("--profile", "base", "--library", "kornia", root=root)


def test_a_group_narrows_the_libraries_of_a_profile(root: Path) -> None:
    (root / "profiles/base.toml").write_text('libraries = ["kornia", "albumentationsx"]', encoding="utf-8")
    assert resolved("--profile", "base", "--group", "albx", root=root).libraries == ("albumentationsx",)


def test_a_group_that_leaves_none_of_a_profiles_libraries_is_refused(root: Path) -> None:
    (root / "profiles/base.toml").write_text('libraries = ["kornia"]', encoding="utf-8")
    assert "but --group allows only albx" in refused("--profile", "base", "--group", "albx", root=root)


def test_media_narrow_the_scenarios(two_media: Path) -> None:
    assert resolved("--media", "image", root=two_media).scenarios == ("image-rgb",)


def test_media_that_no_chosen_group_offers_are_refused(two_media: Path) -> None:
    assert "no chosen group (two) offers media 'video'" in refused("--media", "video", "--group", "two", root=two_media)
    assert "no chosen group (two)" in refused("--scenario", "video-16f", "--group", "two", root=two_media)


def test_a_scenario_of_other_media_than_those_said_beside_it_is_refused(two_media: Path) -> None:
    message = refused("--media", "image", "--scenario", "video-16f", root=two_media)
    assert "scenario 'video-16f' is of media 'video', but --media allows only image" in message


def test_a_mode_that_no_chosen_scenario_has_is_refused(two_media: Path) -> None:
    message = refused("--mode", "pipeline", "--scenario", "video-16f", root=two_media)
    assert message == "--mode: mode 'pipeline' does not apply to video-16f, which has: micro"


def test_a_profiles_mode_that_a_typed_scenario_lacks_is_left_out(two_media: Path) -> None:
    (two_media / "profiles").mkdir()
    (two_media / "profiles/both.toml").write_text('modes = ["micro", "pipeline"]', encoding="utf-8")
    assert resolved("--profile", "both", "--scenario", "video-16f", root=two_media).modes == ("micro",)


def test_a_typed_transform_that_no_chosen_library_offers_is_refused_with_those_that_do() -> None:
    message = refused("--transforms", "Resize,PixelDropout", "--library", "kornia,pillow")
    assert message == "--transforms: PixelDropout is not offered by kornia, pillow; it is offered by albumentationsx"


def test_a_typed_transform_that_one_chosen_library_offers_is_taken() -> None:
    assert resolved("--transforms", "PixelDropout").transforms == ("PixelDropout",)


def test_a_set_stands_for_its_transforms() -> None:
    config = resolved("--transform-set", "paper")
    assert set(config.transforms) == set(load_catalog().sets["paper"]["image-rgb"])


def test_set_and_transforms_do_not_go_together() -> None:
    message = refused("--transform-set", "paper", "--transforms", "Resize")
    assert message == "--transform-set: transform_set does not go with transforms (--transforms); leave one of them out"


def test_a_typed_set_replaces_a_profiles_transforms_and_the_other_way_round(root: Path) -> None:
    config = resolved("--profile", "base", "--transform-set", "quick", root=root)
    assert len(config.transforms) == len(load_catalog().sets["quick"]["image-rgb"])
    assert resolved("--profile", "quick", "--transforms", "Resize").transforms == ("Resize",)


def test_a_set_without_transforms_for_the_scenario_is_refused(two_media: Path) -> None:
    message = refused("--transform-set", "paper", "--scenario", "video-16f", root=two_media)
    assert "transform set 'paper' has nothing for video-16f" in message


def test_an_empty_choice_is_refused() -> None:
    assert "--library: libraries is empty" in refused("--library", ",")
    assert "--set transforms=[]: transforms is empty" in refused("--set", "transforms=[]")


def test_a_value_out_of_range_is_refused() -> None:
    assert refused("--num-runs", "1", "--blocks", "2").startswith("configuration: blocks = 2 with num_runs = 1")


def test_numbers_that_are_none_are_refused() -> None:
    assert "argument --num-runs: invalid int value: 'many'" in refused("--num-runs", "many")
    assert "neither a whole number nor 'all'" in refused("--num-items", "half")


def test_all_items_are_no_limit(root: Path) -> None:
    assert resolved("--num-items", "all").num_items is None
    assert resolved("--num-items", "12").num_items == 12


def test_a_data_folder_typed_is_found_from_where_it_was_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert resolved("--data-dir", "pictures").data_dir == str((tmp_path / "pictures").resolve())


def test_a_data_folder_in_a_file_is_found_from_the_root(root: Path) -> None:
    (root / "profiles/base.toml").write_text('data_dir = "pictures"', encoding="utf-8")
    assert resolved("--profile", "base", root=root).data_dir == str((root / "pictures").resolve())


def test_a_data_folder_whose_name_is_no_text_is_refused() -> None:
    assert "--data-dir" in refused("--data-dir", "/data/\udcff")


def test_home_is_understood_in_a_data_folder() -> None:
    assert resolved("--set", "data_dir=~/pictures").data_dir == str((Path.home() / "pictures").resolve())
    assert "--data-dir: ~nobody-of-this-name" in refused("--data-dir", "~nobody-of-this-name/x")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--profile", "smoke"),
        ("--profile", "quick", "--library", "pillow", "--num-items", "all"),
        ("--transform-set", "paper", "--library", "pillow", "--seed", "3", "--timeout-sec", "7"),
        ("--data-dir", "some pictures", "--skip-unreadable", "--isolation", "spawn", "--disable-slow-skip"),
        ("--set", "data_dir=~/pictures", "--set", "memory_limit_bytes=1000000000"),
    ],
)
def test_the_resolved_configuration_resolves_to_itself(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    config = resolved(*arguments)
    path = tmp_path / "resolved_config.toml"
    path.write_text(dump_config(config), encoding="utf-8")
    again = resolved("--config", str(path))
    assert again == config
    assert config_sha256(again) == config_sha256(config)
    assert config_of_run(tmp_path, ROOT, load_matrix(ROOT)) == config
