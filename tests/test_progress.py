"""Work shows how far it is where somebody watches, and what is done survives an interruption."""

import pytest

import sequoia
from sequoia import progress
from sequoia.evaluation import Progress

PROBLEM = sequoia.make("trap")


def on_a_terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes any stream for a terminal
    monkeypatch.setenv("COLUMNS", "100")
    assert progress.is_watched()


@pytest.mark.parametrize("is_wanted", [True, False])
def test_a_bar_in_a_terminal_unless_it_is_not_wanted(is_wanted, monkeypatch, capsys):
    on_a_terminal(monkeypatch)
    sequoia.evaluate(PROBLEM, ["random"], episodes=10, progress=is_wanted)
    assert ("Evaluating" in capsys.readouterr().err) == is_wanted


def test_nothing_where_nobody_watches(monkeypatch, capsys):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    sequoia.evaluate(PROBLEM, ["random"], episodes=10)
    assert capsys.readouterr() == ("", "")


def test_a_callback_is_any_object_that_can_be_called():
    steps: list[Progress] = []
    sequoia.evaluate(PROBLEM, ["random"], episodes=10, on_event=steps.append)
    assert [step.done for step in steps] == [1, 2]
    assert "left" in steps[0].in_words()


def test_interrupted_the_episodes_that_all_have_played_are_returned():
    def stop(step: Progress) -> None:
        if step.done == 5:
            raise KeyboardInterrupt

    names = ["random", "myopic"]
    found = sequoia.evaluate(PROBLEM, names, episodes=20, on_event=stop)
    assert found.n_episodes == 10
    whole = sequoia.evaluate(PROBLEM, names, episodes=10)
    assert (found.rewards == whole.rewards).all()


def test_interrupted_before_anything_is_whole(tmp_path):
    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sequoia.evaluate(PROBLEM, ["random", "myopic"], episodes=20, on_event=stop)
    with pytest.raises(KeyboardInterrupt):
        sequoia.evaluate(PROBLEM, ["random"], episodes=20, on_event=stop, work=tmp_path)
