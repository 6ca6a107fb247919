"""A thing has one name, in Python and on the command line."""

import inspect

import pytest

import sequoia
from sequoia.cli.bound import bound
from sequoia.cli.evaluate import evaluate_command
from sequoia.cli.fit import fit_command
from sequoia.cli.plan import plan
from sequoia.cli.train import train
from sequoia.errors import ProblemError

# Files, and what is printed: of the command alone.
OF_FILES = {"file", "instance", "output", "force", "as_json", "solver", "certificate"}
# A command, its verb, what only the command has, and what only the verb has.
PAIRS = [
    (evaluate_command, sequoia.evaluate, {"perturb"}, {"seconds", "work", "source"}),
    (train, sequoia.train, {"preset", "settings", "tensorboard"}, {"config", "folder"}),
    (
        plan,
        sequoia.plan,
        # Wishes; Python says them in one word, `rules`.
        {"absent", "must", "never", "lock", "order", "hours", "last", "continuity", "spent"}
        | {"overtime", "why"},
        {"rules"},
    ),
    (
        fit_command,
        sequoia.fit,
        {"sightings", "visits", "never_hurts", "same_moves", "same_zeros", "hold_out"}
        | {"table", "picture", "calibration"},
        {"log", "n_states", "n_doses", "n_groups", "structure", "features"},
    ),
]


@pytest.mark.parametrize(("command", "verb", "commands", "verbs"), PAIRS)
def test_options_are_the_words_of_the_verb(command, verb, commands, verbs):
    options = set(inspect.signature(command).parameters) - OF_FILES - commands
    words = set(inspect.signature(verb).parameters) - {"environment", "problem"} - verbs
    assert options == words - {"on_event", "progress"}


def test_each_option_of_a_bound_is_a_word_of_the_verb():
    options = set(inspect.signature(bound).parameters) - OF_FILES
    assert options <= set(inspect.signature(sequoia.bound).parameters)


@pytest.mark.parametrize(
    ("problem", "kind", "options", "words"),
    [
        ("trap", "lp", {"table": 10}, "lp bounds have no option table"),
        ("trap", "lp", {"scenarios": 3}, "lp bounds have no option scenarios"),
        ("epidemic", "factored", {"gap": 0.1}, "factored bounds have no option gap"),
    ],
)
def test_an_option_of_another_bound_is_refused(problem, kind, options, words):
    with pytest.raises(ProblemError, match=words):
        sequoia.bound(sequoia.make(problem), kind, **options)


def test_no_verb_of_ours_calls_a_model_q():
    for name in ("evaluate", "plan", "train", "bound"):
        assert "q" not in inspect.signature(getattr(sequoia, name)).parameters
