"""Parts of other packages join the library's, and what is wrong with one is one line."""

import sys

import pytest

from sequoia.errors import MissingPackage, PluginError
from sequoia.plugins import Parts

GROUP = "sequoia.trees"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package with a module and entry points, for this test."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(package, points, module=""):
        about = tmp_path / f"{package}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = "\n".join(f"{name} = {value}" for name, value in points.items())
        (about / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}\n")
        (tmp_path / f"{package}.py").write_text(module)

    return install


def test_a_part_of_a_package_comes_after_the_librarys_and_is_imported_when_asked_for(install):
    install("orchard", {"pear": "orchard:PEAR"}, "print('imported')\nPEAR = 'a pear'")
    parts = Parts(GROUP, {"oak": "an oak"})
    assert list(parts) == ["oak", "pear"]
    assert len(parts) == 2
    assert "pear" in parts
    assert "plum" not in parts
    assert parts["oak"] == "an oak"
    assert parts["pear"] == "a pear"
    assert list(parts.added) == ["pear"]


def test_names_are_known_before_anything_is_imported(install):
    install("orchard", {"pear": "orchard:PEAR"}, "raise SystemExit('imported')")
    assert list(Parts(GROUP, {})) == ["pear"]


def test_a_name_that_is_taken_is_refused(install):
    install("orchard", {"oak": "orchard:OAK"})
    with pytest.raises(
        PluginError, match=r"The package orchard adds 'oak' to sequoia.trees, where"
    ):
        list(Parts(GROUP, {"oak": "an oak"}))
    install("wood", {"oak": "wood:OAK"})
    with pytest.raises(PluginError, match="that name is taken"):
        Parts(GROUP, {})["oak"]


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("", "orchard:PEAR cannot be imported: module 'orchard' has no attribute 'PEAR'"),
        ("import orchard_tools", "orchard:PEAR cannot be imported: No module named 'orchard_t"),
    ],
)
def test_what_cannot_be_imported_is_one_line(install, module, words, monkeypatch):
    monkeypatch.delitem(sys.modules, "orchard", raising=False)
    install("orchard", {"pear": "orchard:PEAR"}, module)
    with pytest.raises(PluginError, match=words):
        Parts(GROUP, {})["pear"]


def test_an_extra_that_a_part_needs_is_named(install, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    install("forest", {"fir": "forest:FIR"}, "import torch")
    with pytest.raises(MissingPackage, match=r"sequoia-plan\[learn\]"):
        Parts(GROUP, {})["fir"]
