"""Every public name has an example, and what it shows is what happens."""

import doctest
import inspect

import pytest

import sequoia

NAMES = [name for name in sequoia.__all__ if not name.startswith("_")]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_shows_what_happens(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    thing = getattr(sequoia, name)
    found = doctest.DocTestFinder(recurse=False).find(thing, name, globs={})
    examples = [one for one in found if one.examples]
    assert examples, f"{name} has no example"
    for one in examples:
        assert doctest.DocTestRunner(verbose=False).run(one).failed == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_signature_can_be_read(name):
    """It names every argument, and is not many lines long."""
    signature = inspect.signature(getattr(sequoia, name))
    assert len(signature.parameters) <= 16
    kinds = {each.kind for each in signature.parameters.values()}
    is_open = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} & kinds
    assert not is_open or name in ("make", "Environment")
