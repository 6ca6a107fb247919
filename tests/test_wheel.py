"""The wheel has the packages of `src/`, what they read, and nothing else."""

import zipfile
from pathlib import Path

import pytest

import try_wheel

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    builder = pytest.importorskip("hatchling.builders.wheel").WheelBuilder(str(ROOT))
    (path,) = builder.build(directory=str(tmp_path_factory.mktemp("dist")), versions=["standard"])
    return Path(path)


def test_it_is_small(wheel):
    assert wheel.stat().st_size <= try_wheel.MOST_BYTES


def test_it_has_every_file_of_its_packages_and_no_other(wheel):
    with zipfile.ZipFile(wheel) as archive:
        there = {name for name in archive.namelist() if ".dist-info/" not in name}
    files = [file for file in (ROOT / "src").rglob("*") if file.is_file()]
    wanted = [file for file in files if "__pycache__" not in file.parts]
    assert there == {file.relative_to(ROOT / "src").as_posix() for file in wanted}
    packages = {folder.name for folder in (ROOT / "src").iterdir()}
    assert {name.partition("/")[0] for name in there} == packages
    assert {"sequoia", "sequoia_programme"} <= packages
    assert {"sequoia/py.typed"} <= there


def test_its_metadata_says_the_version_the_licence_and_the_commands(wheel):
    from sequoia import __version__

    with zipfile.ZipFile(wheel) as archive:
        about = f"sequoia_plan-{__version__}.dist-info"
        metadata = archive.read(f"{about}/METADATA").decode()
        points = archive.read(f"{about}/entry_points.txt").decode()
        assert f"{about}/licenses/LICENSE" in archive.namelist()
    assert f"\nVersion: {__version__}\n" in metadata
    assert "sequoia = sequoia.cli:main" in points
    assert "[sequoia.commands]" in points
