"""A problem: arms, what actions do to them, and which actions are allowed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.errors import ProblemError
from sequoia.frames import Library, frame_of
from sequoia.problem.action_limits import ActionLimits
from sequoia.problem.arms import SAME_DOSE, Arms, attainable_doses
from sequoia.problem.contagion import Contagion
from sequoia.problem.dependencies import Dependencies
from sequoia.problem.framed_arms import read_arms
from sequoia.problem.names import Numbered, count
from sequoia.problem.promise_keeper import PromiseKeeper
from sequoia.problem.promises import Promises
from sequoia.problem.purse import Purse, SpendingLimit
from sequoia.problem.rules import Rules
from sequoia.problem.spaces import ActionSpace, with_rules, write_space
from sequoia.problem.tables import Column, TableSet, table
from sequoia.shown import Columns, Shown
from sequoia.sizes import MOST_STEPS
from sequoia.validation import FloatArray, IntArray, frozen, require, set_fields, whole

_MAX_WEIGHT = 1e15
_MAX_DOSES = 100_000
FORMAT = 1


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Problem(Shown):
    """Arms that evolve, what an action does to them, and the actions that are allowed.

    Attributes
    ----------
    influence
        Dose that each action column gives to each arm, ``(J, N)``, sparse; the identity unless
        given. ``dose = influence @ action``.
    start
        Distribution of each arm's first state, ``(J, S)``.
    horizon
        Number of steps of an episode.
    discount
        Weight of the next step against this one, in (0, 1].
    contagion
        How arms depend on each other's states; ``None`` when each evolves on its own.
    keeper
        What keeps promises to arms, whose states then have clocks; made by `with_promises`.
    purse
        Budgets over several steps, what is spent of which is in further arms; made by
        `with_budgets`.

    Examples
    --------
    >>> from sequoia import Arms, Budget, Problem
    >>> arms = Arms.ladder([[0, 1]] * 3, up=[[0.1, 0.9]] * 3, names=['Ada', 'Ben', 'Cleo'])
    >>> three = Problem('three people', arms, Budget([1] * 3, 1), [[1, 0]] * 3)
    >>> three
    Problem 'three people': 3 arms of 2 states, 20 steps, discount 0.99
    budget: at most 1 unit in all; an action costs 1
    """

    name: str
    arms: Arms
    space: ActionSpace
    start: FloatArray
    influence: csr_array
    horizon: int
    discount: float
    contagion: Contagion | None
    keeper: PromiseKeeper | None
    purse: Purse | None

    def __init__(
        self,
        name: str,
        arms: Arms,
        space: ActionSpace,
        start: ArrayLike,
        influence: ArrayLike | csr_array | None = None,
        horizon: int = 20,
        discount: float = 0.99,
        contagion: Contagion | None = None,
        keeper: PromiseKeeper | None = None,
        purse: Purse | None = None,
    ) -> None:
        if not _is_one_line(name):
            raise ProblemError(f"problem.name is {name!r}; one line of text is wanted.")
        if influence is None and _takes_names(space, arms):
            space = space.named(arms.names)
        start = frozen("problem.start", start, np.float64, (arms.n_arms, arms.n_states))
        require("problem.start", start, start >= 0, "a probability is wanted")
        sums = start.sum(axis=1)
        require("problem.start.sum(1)", sums, np.abs(sums - 1) < 1e-9, "each row must sum to 1")
        if not 0 < discount <= 1:
            raise ProblemError(f"problem.discount is {discount}; (0, 1] is wanted.")
        set_fields(
            self,
            name=name,
            arms=arms,
            space=space,
            start=start,
            influence=_influence(influence, arms.n_arms, space.n_actions),
            horizon=whole("problem.horizon", horizon, 1, MOST_STEPS),
            discount=float(discount),
            contagion=contagion,
            keeper=keeper,
            purse=purse,
        )
        self._check_doses()
        if self.contagion is not None:
            self.contagion.check(self.arms)

    def _lines(self) -> list[str]:
        """Return its sizes and, below, what is allowed."""
        arms, steps = self.bare_arms, count(self.horizon, "step")
        sizes = f"{count(arms.n_arms, 'arm')} of {count(arms.n_states, 'state')}"
        head = f"Problem {self.name!r}: {sizes}, {steps}, discount {self.discount:g}"
        return [head, self.space.summary()]

    def _shown_table(self) -> Columns:
        """Return a row for each arm: its name, its model and the state in which it starts."""
        arms, start = self.bare_arms, self.bare_start
        columns: dict[str, Column] = {"arm": list(arms.names), "model": arms.model_of_each}
        first = start.argmax(axis=1)
        if (start.max(axis=1) == 1).all():
            return columns | {"state": [arms.say_state(state) for state in first.tolist()]}
        return columns | {
            f"start {arms.say_state(state)}": share for state, share in enumerate(start.T)
        }

    def to_frame(self, library: Library = "pandas") -> Any:
        """Return a data frame with a row for each arm: its name, its model and its first state.

        `from_frames` reads it, together with ``arms.to_frame()`` and ``arms.rewards_frame()``.
        """
        return frame_of(self._shown_table(), library)

    @classmethod
    def from_frames(
        cls,
        arms: Any,
        transitions: Any,
        space: ActionSpace,
        *,
        rewards: Any,
        name: str = "problem",
        horizon: int = 20,
        discount: float = 0.99,
        dose_names: Mapping[float, str] | None = None,
    ) -> "Problem":
        """Return a problem from data frames, or from columns by name.

        Parameters
        ----------
        arms
            A row for each arm with the columns ``arm``, its name; ``model``, whose transitions it
            follows, unless there is one model; and ``state``, in which it starts, or the columns
            ``start …`` with the probability of each state.
        transitions
            The columns ``model``, ``dose``, ``state``, ``to`` and ``probability``; moves that are
            not there do not happen. `FittedModel.to_frame` writes such a table.
        space
            The actions that are allowed. It takes over the names of arms if it has none.
        rewards
            Reward by state, from the first to the last: ``{"ill": 0, "well": 1}``. Or a table with
            the columns ``model``, ``state`` and ``reward``.

        Raises
        ------
        ProblemError
            One line for each cell that is wrong.
        """
        found, start = read_arms(arms, transitions, rewards, dose_names)
        return cls(name, found, space, start, None, horizon, discount)

    def _check_doses(self) -> None:
        """Every dose that any action, feasible or not, can give must be in the arm's table."""
        matrix = self.influence
        doses = self.arms.doses[self.arms.model]
        weights = np.diff(matrix.indptr)
        single = np.flatnonzero(weights == 1)
        reached = matrix.data[matrix.indptr[single]]
        gap = np.abs(doses[single] - reached[:, None]).min(axis=1, initial=np.inf)
        wrong = np.flatnonzero(gap > SAME_DOSE * np.abs(reached))
        if len(wrong):
            raise self._missing_dose(int(single[wrong[0]]), reached[wrong[0]])
        for arm in np.flatnonzero(weights > 1).tolist():
            entries = matrix.data[matrix.indptr[arm] : matrix.indptr[arm + 1]]
            sums = attainable_doses(entries, _MAX_DOSES)
            if sums is None:
                raise ProblemError(
                    f"problem.influence[{arm}] can give more than {_MAX_DOSES} different doses."
                )
            same = SAME_DOSE * np.abs(entries).sum()
            far = np.abs(doses[arm][:, None] - sums).min(axis=0) > same
            if far.any():
                raise self._missing_dose(arm, sums[far][0])

    def _missing_dose(self, arm: int, dose: float) -> ProblemError:
        known = ", ".join(f"{d:g}" for d in self.arms.doses[self.arms.model[arm]])
        return ProblemError(
            f"problem.influence[{arm}] can give {self.arms.names[arm]} a dose of {dose:g}; "
            f"arms.doses has {known}."
        )

    @property
    def is_decoupled(self) -> bool:
        """Whether each arm moves on its own, given its dose: then prices take arms one by one."""
        return self.contagion is None

    @cached_property
    def is_identity(self) -> bool:
        """Whether each action column is one arm and doses are 0 or 1."""
        matrix = self.influence
        arms, columns = matrix.shape
        return bool(
            arms == columns
            and (matrix.indptr == np.arange(arms + 1)).all()
            and (matrix.indices == np.arange(arms)).all()
            and (matrix.data == 1).all()
        )

    @cached_property
    def _influence_columns(self) -> csr_array:
        return csr_array(self.influence.T)

    def levels(self, actions: ArrayLike) -> IntArray:
        """Return the dose level that each arm gets from each action, ``(B, J)``.

        ``actions`` is ``(B, N)`` and need not be feasible.
        """
        actions = np.asarray(actions)
        doses = actions if self.is_identity else actions @ self._influence_columns
        return self.arms.levels(doses)

    @property
    def n_noise(self) -> int:
        """The number of uniforms that one step uses: one per arm."""
        return self.arms.n_arms

    def models(self, states: ArrayLike) -> IntArray:
        """Return the model that each arm follows in ``states``, ``(..., J)``.

        Without contagion it is the same in all states, ``(J,)``.
        """
        return self.arms.model if self.contagion is None else self.contagion.models_in(states)

    @cached_property
    def dependencies(self) -> Dependencies:
        """The arms that press on each arm, and the columns that reach it."""
        arms = self.arms.n_arms
        if self.contagion is None:
            return Dependencies(csr_array((arms, arms)), self.influence)
        others = self.contagion.neighbours.copy()
        others.setdiag(0)
        others.eliminate_zeros()
        return Dependencies(others, self.influence)

    def draw_start(self, rng: np.random.Generator, count: int) -> IntArray:
        """Draw first states, ``(count, J)``."""
        sums = self.start.cumsum(axis=1)
        below = (sums / sums[:, -1:])[:, :-1]
        luck = rng.random((count, self.arms.n_arms))
        start: IntArray = (luck[:, :, None] >= below).sum(axis=2)
        return start

    def features(self, states: ArrayLike) -> FloatArray:
        """Return what a network sees of each state: one indicator per arm and state.

        With contagion, then the pressure on each arm, from 0 to 1, in the place of its state: what
        a dose is worth to an arm depends on both together.
        """
        states = np.asarray(states)
        known = states[:, :, None] == np.arange(self.arms.n_states)
        features: FloatArray = known.reshape(len(states), -1).astype(np.float64)
        if self.contagion is None:
            return features
        share = self.contagion.pressure(states) / max(self.contagion.n_pressures - 1, 1)
        pressed = (known * share[:, :, None]).reshape(len(states), -1)
        return np.concatenate([features, pressed], axis=1)

    def step(
        self, states: ArrayLike, actions: ArrayLike, noise: ArrayLike
    ) -> tuple[FloatArray, IntArray]:
        """Return the expected reward of the next states, ``(B,)``, and the next states."""
        rewards = self.expected_reward(states, actions)
        return rewards, self.transition(states, actions, noise)

    def transition(self, states: ArrayLike, actions: ArrayLike, noise: ArrayLike) -> IntArray:
        """Return the next state of every arm.

        Parameters
        ----------
        states
            Current states, ``(B, J)`` integers in ``[0, S)``.
        actions
            Binary, ``(B, N)``; need not be feasible.
        noise
            Uniforms in ``[0, 1)``, ``(B, J)``; equal noise gives equal luck.
        """
        rows = self._table_rows(states, actions)
        noise = np.asarray(noise)
        following = np.zeros(rows.shape, dtype=np.int64)
        for threshold in self.arms.cumulative:
            following += noise >= threshold.take(rows)
        if self.purse is not None:
            after = self.purse.after(np.asarray(states), np.asarray(actions))
            following[:, self.purse.n_arms :] = after
        return following

    @property
    def component_sizes(self) -> IntArray:
        """The number of states of each arm, ``(J,)``."""
        return np.full(self.arms.n_arms, self.arms.n_states)

    def next_shares(self, states: ArrayLike, actions: ArrayLike) -> FloatArray:
        """Return the chance of each next state of each arm, ``(B, J, S)``."""
        states = np.asarray(states)
        shares: FloatArray = self.arms.kernels[self.models(states), self.levels(actions), states]
        if self.purse is not None:
            after = self.purse.after(states, np.asarray(actions))
            shares[:, self.purse.n_arms :] = np.eye(self.arms.n_states)[after]
        return shares

    def expected_reward(self, states: ArrayLike, actions: ArrayLike) -> FloatArray:
        """Return the expected reward of the next state, summed over arms, ``(B,)``."""
        rewards: FloatArray = self.component_rewards(states, actions).sum(axis=1)
        return rewards

    def component_rewards(self, states: ArrayLike, actions: ArrayLike) -> FloatArray:
        """Return the expected reward of the next state by arm, ``(B, J)``."""
        rows = self._table_rows(states, actions)
        rewards: FloatArray = self.arms.next_rewards.reshape(-1).take(rows)
        return rewards

    def dose_rewards(self, states: ArrayLike) -> FloatArray:
        """Return the expected next reward of every arm by dose level, ``(..., J, L)``."""
        states = np.asarray(states)
        table: FloatArray = self.arms.next_rewards[self.models(states), :, states]
        return table

    def _table_rows(self, states: ArrayLike, actions: ArrayLike) -> IntArray:
        """Return where each arm's (model, dose, state) stands in the flat tables, ``(B, J)``."""
        states = np.asarray(states)
        if states.size and not 0 <= states.min() <= states.max() < self.arms.n_states:
            raise ProblemError(
                f"states run from {states.min()} to {states.max()}; 0 to "
                f"{self.arms.n_states - 1} is wanted."
            )
        rows = self.levels(actions)
        rows += self.models(states) * self.arms.n_doses
        rows *= self.arms.n_states
        rows += states
        return rows

    def with_promises(self, promises: Promises) -> "Problem":
        """Return this problem with promises, which every policy keeps.

        Arms get clocks, so that prices, bounds and learning know what is promised.

        Raises
        ------
        InfeasibleSpace
            When promises cannot be kept with the staff there is; with the first step that breaks
            one.
        """
        if self.contagion is not None:
            raise ProblemError(f"{self.name} has contagion; promises need arms on their own.")
        if self.purse is not None:
            return self.unlimited.with_promises(promises).with_budgets(self.purse.limits)
        arms, start = self.arms, self.start
        if self.keeper is not None:
            arms, start = self.keeper.arms, self.keeper.start
        keeper = PromiseKeeper.of(promises, arms, start, self.influence, self.space)
        return replace(self, arms=keeper.augmented, start=keeper.first_states(), keeper=keeper)

    def with_budgets(self, limits: Sequence[SpendingLimit]) -> "Problem":
        """Return this problem with budgets over several steps, which no policy exceeds.

        What is spent belongs to the state: see `Purse`.
        """
        if self.contagion is not None:
            raise ProblemError(f"{self.name} has contagion; budgets need arms on their own.")
        if self.purse is not None:
            return self.unlimited.with_budgets(limits)
        purse = Purse.of(limits, self.arms, self.space.names)
        if self.keeper is not None:
            self.keeper.require_within(limits, purse.matrix)
        arms, start, influence = purse.extended(self.arms, self.start, self.influence)
        return replace(self, arms=arms, start=start, influence=influence, purse=purse)

    @property
    def bare_arms(self) -> Arms:
        """The arms without clocks of promises and digits of budgets."""
        if self.keeper is not None:
            return self.keeper.arms
        return self.arms if self.purse is None else self.purse.arms

    @property
    def bare_start(self) -> FloatArray:
        """The distribution of first states without clocks of promises and digits of budgets."""
        free, keeper = self.unlimited, self.keeper
        return free.start if keeper is None else keeper.start

    @property
    def unlimited(self) -> "Problem":
        """The same problem without budgets over several steps."""
        if self.purse is None:
            return self
        size = self.purse.n_arms
        return replace(
            self,
            arms=self.purse.arms,
            start=self.start[:size],
            influence=self.influence[:size],
            purse=None,
        )

    def action_limits(self, states: ArrayLike, steps: IntArray) -> ActionLimits | None:
        """Return what promises and budgets leave in each state, ``(B, J)``; ``None`` if all."""
        states, steps = np.asarray(states), np.asarray(steps)
        limits, purse = None, self.purse
        if self.keeper is not None:
            arm_states = states if purse is None else states[:, : purse.n_arms]
            limits = self.keeper.limits(self.space, arm_states, steps, may_wait=purse is None)
        if purse is None:
            return limits
        kept = np.zeros((len(states), len(purse.limits)), dtype=np.int64)
        if self.keeper is not None:
            ends = np.array([limit.steps for limit in purse.limits]) - purse.numbers(states)[1]
            kept = self.keeper.turns_until(steps, ends, purse.matrix)
        return purse.bounded(states, kept, limits, self._most_columns)

    @cached_property
    def _most_columns(self) -> float:
        """No action has more columns than this."""
        costs, limit = self.space.knapsack
        return float((np.sort(costs).cumsum() <= limit * (1 + 1e-9)).sum())

    def with_rules(self, rules: Rules) -> "Problem":
        """Return this problem with extra rules on its actions."""
        return replace(self, space=with_rules(self.space, rules))

    @cached_property
    def fingerprint(self) -> str:
        """A stable name for the content of this problem: the same in memory and in any file."""
        return self.to_tables().fingerprint()

    def to_tables(self) -> TableSet:
        """Return the options and tables that define this problem."""
        if self.purse is not None:
            bare = self.unlimited.to_tables()
            budgets = [limit.to_options() for limit in self.purse.limits]
            return TableSet({**bare.options, "budgets": budgets}, bare.tables)
        if self.keeper is not None:
            kept = self.keeper
            bare = replace(self, arms=kept.arms, start=kept.start, keeper=None).to_tables()
            promised = kept.promises.to_tables(self.arms.names)
            options = {**bare.options, "promises": promised.options}
            return TableSet(options, {**bare.tables, **promised.tables})
        arms, space = self.arms, self.space
        models, levels, states = arms.n_models, arms.n_doses, arms.n_states
        to_columns = arms.kernels.reshape(-1, states).T
        every_model = np.repeat(np.arange(models), levels * states)
        tables = (
            table(
                "arms",
                name=arms.names,
                model=arms.called(arms.model),
                **_numbered("start", self.start.T),
            )
            | table(
                "rewards",
                model=arms.called(np.arange(models)),
                **_numbered("reward", arms.rewards.T),
            )
            | table(
                "transitions",
                model=arms.called(every_model),
                dose=np.repeat(arms.doses.reshape(-1), states),
                state=np.tile(np.arange(states), models * levels),
                **_numbered("to", to_columns),
            )
        )
        if not isinstance(arms.state_names, Numbered):
            tables |= table("states", state=np.arange(states), name=arms.state_names)
        if arms.dose_names:
            named = sorted(arms.dose_names.items())
            doses, called = np.array([d for d, _ in named]), [name for _, name in named]
            tables |= table("doses", dose=doses, name=called)
        if not self.is_identity or list(arms.names) != list(space.names):
            entries = self.influence.tocoo()
            tables |= table(
                "influence",
                arm=[arms.names[j] for j in entries.row],
                action=[space.names[i] for i in entries.col],
                weight=entries.data,
            )
        space_tables = write_space(space)
        options = {
            "format": FORMAT,
            "name": self.name,
            "horizon": self.horizon,
            "discount": self.discount,
            "space": space_tables.options,
        }
        tables |= space_tables.tables
        if self.contagion is not None:
            among = self.contagion.to_tables(arms.names, arms.called)
            options["contagion"] = among.options
            tables |= among.tables
        return TableSet(options, tables)


def _takes_names(space: ActionSpace, arms: Arms) -> bool:
    """Say whether the columns of a space are arms that only the arms have names for."""
    is_nameless = isinstance(space.names, Numbered) and not isinstance(arms.names, Numbered)
    return is_nameless and space.n_actions == arms.n_arms


def _is_one_line(text: str) -> bool:
    fine = all(c >= " " and not "\ud800" <= c <= "\udfff" for c in text)
    return fine and bool(text.strip())


def _numbered(prefix: str, columns: FloatArray) -> dict[str, Column]:
    return {f"{prefix}_{index}": column for index, column in enumerate(columns)}


def _influence(matrix: object, arms: int, columns: int) -> csr_array:
    if matrix is None:
        if arms != columns:
            raise ProblemError(
                f"problem.influence is missing; with {arms} arms and {columns} action columns, "
                "say which action reaches which arm."
            )
        matrix = sparse.eye_array(arms)
    try:
        result = csr_array(matrix, dtype=np.float64, copy=True)
    except (TypeError, ValueError):
        raise ProblemError("problem.influence is not a matrix of numbers.") from None
    if result.shape != (arms, columns):
        raise ProblemError(
            f"problem.influence has shape {result.shape}; ({arms}, {columns}) is wanted."
        )
    result.sum_duplicates()
    result.eliminate_zeros()
    result.sort_indices()
    fine = np.abs(result.data) <= _MAX_WEIGHT
    require("problem.influence.data", result.data, fine, f"at most {_MAX_WEIGHT:g} is wanted")
    for part in (result.data, result.indices, result.indptr):
        part.setflags(write=False)
    return result
