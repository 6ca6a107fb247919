"""Would other plans have helped? The past, played again by the fitted model."""

from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from sequoia.defaults import PLAYED_SECONDS
from sequoia.errors import ProblemError
from sequoia.evaluation.intervals import Estimate, estimate
from sequoia.policies import make_policy
from sequoia.rng import stream
from sequoia.validation import FloatArray, IntArray
from sequoia_programme.members import members
from sequoia_programme.schema import ARM
from sequoia_programme.settings import Programme
from sequoia_programme.situation import Situation, find_situation
from sequoia_programme.to_log import to_log

# Runs: each has a draw of the transitions and luck of its own, the same for both ways to act.
_RUNS = 24
# Longer is no past that one set of transitions describes.
MOST_STEPS = 400

WHAT_CANNOT_BE_KNOWN = (
    "What such data cannot tell: what would have happened to anybody. Both numbers are the model's,"
    " and are wrong together where it is wrong; people were not visited by chance, so what made"
    " workers choose them may be taken for what a visit does; and whoever is there on the first"
    " day is taken to stay, with the staff and the rules of that day."
)


@dataclass(frozen=True)
class Replay:
    """What a step earned, by the model.

    Attributes
    ----------
    done
        By the visits that were made.
    other
        By the other policy.
    gain
        How much more the other policy earns, under the same draws of transitions and luck; its
        interval is of both.
    believed
        By the visits that were made, with what was seen at them: the mean of what was believed.
    steps
        How many were played.
    visits
        How many visits were made, and by the other policy, a step.
    """

    policy: str
    first: date
    last: date
    done: Estimate
    other: Estimate
    gain: Estimate
    believed: float
    steps: int
    visits: tuple[float, float]


def replay(programme: Programme, first: date, last: date, policy: str = "price") -> Replay:
    """Play the steps from ``first`` to ``last`` by the visits that were made, and by a policy.

    The policy sees what a visit shows it, and states that are reported as often as the settings
    say, never what the log says of later days. Transitions are drawn from what they may be.
    """
    situation = find_situation(programme, first)
    calendar = programme.calendar
    begin, end = calendar.step_of(first), calendar.step_of(last)
    steps = end - begin
    if not 0 < steps <= MOST_STEPS:
        raise ProblemError(
            f"from {first} to {last} there are {max(0, steps)} steps to play; 1 to {MOST_STEPS} "
            "are wanted."
        )
    made, believed = _what_was_done(situation, last, steps)
    size = len(situation.arms)
    rng = stream(0, "programme:replay")
    luck = rng.random((_RUNS, steps + 1, 2, size))
    kernels = _draws(situation, rng)
    start = _pick(np.tile(situation.belief, (_RUNS, 1, 1)), luck[:, steps, 0])
    both, visits = [], []
    for acts in (None, policy):
        earned, given = _play(situation, kernels, start, luck, steps, made, acts)
        both.append(earned)
        visits.append(given)
    return Replay(
        policy=policy,
        first=calendar.date_of(begin),
        last=calendar.date_of(end - 1),
        done=estimate(both[0]),
        other=estimate(both[1]),
        gain=estimate(both[1] - both[0]),
        believed=believed,
        steps=steps,
        visits=(visits[0], visits[1]),
    )


def _play(
    situation: Situation,
    kernels: FloatArray,
    start: IntArray,
    luck: FloatArray,
    steps: int,
    made: IntArray,
    policy: str | None,
) -> tuple[FloatArray, float]:
    """Return what a step earns in each run, ``(B,)``, and how many visits it has.

    Parameters
    ----------
    kernels
        Transitions of each run and arm, ``(B, J, L, S, S)``.
    start
        First states, ``(B, J)``.
    luck
        Uniform numbers by run, step, what for, and arm.
    made
        Levels of the doses that were given, ``(T, J)``; played unless there is a policy.
    """
    believed, problem = situation.believed, situation.problem
    original = believed.original
    rewards = original.arms.rewards[original.arms.model]
    runs, size = start.shape
    run, arm = np.arange(runs)[:, None], np.arange(size)
    acting = None
    if policy is not None:
        acting = make_policy(policy, replace(problem, horizon=steps), None, PLAYED_SECONDS)
        acting.reset(runs)
    rngs = [stream(0, f"programme:replay:{number}") for number in range(runs)]
    state, about = start, np.tile(situation.belief, (runs, 1, 1))
    earned, given = np.zeros(runs), 0.0
    for step in range(steps):
        if acting is None:
            level = np.tile(made[step], (runs, 1))
        else:
            nodes = np.stack([believed.nodes(own) for own in about])
            level = problem.levels(acting.act(nodes, step, rngs).actions)
            shown = np.where((level > 0) & (luck[:, step, 1] < believed.seen.at_visit), state, -1)
            about = np.stack(
                [believed.track(*one) for one in zip(about, level, shown, strict=True)]
            )
        state = _pick(kernels[run, arm, level, state], luck[:, step, 0])
        if acting is not None:
            reported = luck[:, step, 1] > 1 - believed.seen.before
            about = np.where(reported[:, :, None], np.eye(about.shape[2])[state], about)
        earned += rewards[arm, state].sum(axis=1)
        given += float((level > 0).sum(axis=1).mean())
    return earned / steps, given / steps


def _pick(odds: FloatArray, luck: FloatArray) -> IntArray:
    """Return a state for each row of probabilities, by a uniform number."""
    last = odds.shape[-1] - 1
    picked: IntArray = np.minimum((luck[..., None] >= odds.cumsum(axis=-1)).sum(axis=-1), last)
    return picked


def _draws(situation: Situation, rng: np.random.Generator) -> FloatArray:
    """Return transitions that may be, one draw for each run, by arm, ``(B, J, L, S, S)``."""
    original, fitted = situation.believed.original.arms, situation.estimates.fitted
    if fitted is None:
        return np.tile(original.kernels[original.model], (_RUNS, 1, 1, 1, 1))
    drawn = np.stack([situation.columns.expand(fitted.draw(rng)) for _ in range(_RUNS)])
    by_arm: FloatArray = drawn[:, original.model]
    return by_arm


def _what_was_done(situation: Situation, last: date, steps: int) -> tuple[IntArray, float]:
    """Return the levels of the doses that were given, ``(T, J)``, and what a step was worth."""
    programme, believed = situation.programme, situation.believed
    calendar, original = programme.calendar, believed.original
    names = [one.name for one in situation.arms]
    with programme.store.reading() as connection:
        arms = [one for one in members(connection, ARM) if one.name in set(names)]
        dated = to_log(programme, connection, arms, last)
    begin = calendar.step_of(situation.day) - dated.offset
    seen = np.full((steps + 1, len(names)), -1)
    made = np.zeros((steps + 1, len(names)), dtype=np.int64)
    for arm, step, state in dated.log.sightings.tolist():
        if 0 <= step - begin <= steps:
            seen[step - begin, arm] = state
    for arm, step, level in dated.log.visits.tolist():
        if 0 <= step - begin < steps:
            made[step - begin, arm] = situation.columns.levels[level]
    rewards = original.arms.rewards[original.arms.model]
    about, worth = situation.belief, 0.0
    eye = np.eye(original.arms.n_states)
    for step in range(steps):
        about = believed.track(about, made[step], seen[step])
        now = np.where((seen[step + 1] >= 0)[:, None], eye[seen[step + 1]], about)
        worth += float((now * rewards).sum())
    return made[:steps], worth / steps
