"""An instance from its words: arms, and the rules of each kind of space as rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

# Sums of numbers that are not whole may miss their limits by such a share of their terms.
SLACK = Fraction(1, 10**9)
# A worker who could carry more different loads has no column for each of them.
MOST_LOADS = 60
# An arm that more columns reach has a column for each dose, not for each choice among them.
MOST_REACHING = 6
# A word that is not read here would be a rule that is not checked.
KNOWN = {
    "options": "format name horizon discount space",
    "space": "kind rules limit slots visits distinct_workers most_in_a_row source length",
    "rules": "groups floors must never at_most_one absent hours locks orders preferences",
    "tables": "arms rewards transitions states doses influence actions workers visitors travel "
    "places edges plan rows coefficients",
    "actions": "name cost minutes visits earliest latest x y",
    "workers": "name capacity depot minutes begins",
}
# When walkers set out who do not say.
MORNING = Fraction(8 * 60)
Column = tuple[Any, ...]
Terms = dict[int, Fraction]


class Unreadable(Exception):
    """A certificate does not say what it has to; the message says where."""


class NotVerified(Exception):
    """A claim does not hold, or its proof does not show that it does."""


def number(cell: Any) -> Fraction:
    """Return a number as it is written: 0.1 is a tenth."""
    return Fraction(str(int(cell) if isinstance(cell, bool) else cell).strip())


def time_of_day(cell: Any) -> Fraction | None:
    """Return the minute of a time such as 09:30; ``None`` where there is none."""
    hours, _, minutes = str(cell).partition(":")
    return Fraction(60 * int(hours) + int(minutes)) if minutes else None


def limit(cell: Any) -> Fraction | None:
    """Return a limit; ``None`` for one that is infinite."""
    return None if str(cell).lstrip("+-") in ("inf", "Infinity") else number(cell)


@dataclass
class System:
    """Columns that are 0 or 1, and rows ``low <= terms <= high``."""

    columns: dict[Column, int] = field(default_factory=dict)
    rows: list[tuple[str, Terms, Fraction | None, Fraction | None]] = field(default_factory=list)

    def add(self, *column: Any) -> int:
        """Return the number of a column, a new one where there was none."""
        return self.columns.setdefault(column, len(self.columns))

    def row(
        self,
        name: str,
        terms: Iterable[tuple[int, Fraction | int]],
        low: Fraction | int | None,
        high: Fraction | int | None,
    ) -> None:
        """Add a row; limits of sums that are not whole give way by `SLACK`."""
        total: Terms = {}
        for column, value in terms:
            total[column] = total.get(column, Fraction(0)) + value
        bounds = [None if end is None else Fraction(end) for end in (low, high)]
        parts = [*total.values(), *(end for end in bounds if end is not None)]
        if any(part.denominator != 1 for part in parts):
            give = SLACK * sum(map(abs, parts))
            bounds = [
                None if end is None else end + sign * give
                for end, sign in zip(bounds, (-1, 1), strict=True)
            ]
        self.rows.append((name, total, bounds[0], bounds[1]))


class Instance:
    """What the options and tables of an instance say."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        try:
            self.options, self.tables = content["options"], content["tables"]
            self._read_arms()
            self.space, self.rules = self.options["space"], self.options["space"].get("rules", {})
            self._require_known()
            self.actions = self.column("actions", "name")
            self.workers = self.column("workers", "name") if "workers" in self.tables else []
            self.system = System()
            for name in self.actions:
                self.system.add("act", name)
            kinds: dict[str, Any] = {
                "budget": self._budget, "assignment": self._assignment, "schedule": self._slots,
                "rota": self._slots, "walk": self._walk, "team": self._team, "custom": self._custom,
            }  # fmt: skip
            kinds[self.space["kind"]]()
            self._extra_rules()
            self._reach()
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise Unreadable(f"the instance cannot be read: {error!r}.") from None

    def _require_known(self) -> None:
        """Raise where the words say something that is not read here."""
        said = {"options": self.options, "space": self.space, "rules": self.rules}
        said |= {"tables": self.tables, "actions": self.tables["actions"]}
        said |= {"workers": self.tables.get("workers", {})}
        for where, words in said.items():
            others = {*words} - {*KNOWN[where].split()} - {*self.space.get("slots", ())}
            if others or (where == "rules" and words.get("hours")):
                what = ", ".join(sorted(others)) or "hours"
                raise Unreadable(f"{what} in {where}: that cannot be verified yet.")

    def column(self, table: str, column: str) -> list[str]:
        """Return the cells of a column as text."""
        return [str(cell) for cell in self.tables[table][column]]

    def numbers(self, table: str, column: str) -> list[Fraction]:
        """Return the cells of a column as numbers."""
        return [number(cell) for cell in self.tables[table][column]]

    def _read_arms(self) -> None:
        """Read arms, their starts, rewards, and chances by model, dose and state."""
        self.arms, self.model = self.column("arms", "name"), self.column("arms", "model")
        self.n_states = len(self.tables["rewards"]) - 1
        odds = [self.numbers("arms", f"start_{state}") for state in range(self.n_states)]
        self.start = [[part / sum(row) for part in row] for row in zip(*odds, strict=True)]
        rewards = [self.numbers("rewards", f"reward_{state}") for state in range(self.n_states)]
        by_model = zip(*rewards, strict=True)
        self.rewards = dict(zip(self.column("rewards", "model"), by_model, strict=True))
        to = [self.numbers("transitions", f"to_{state}") for state in range(self.n_states)]
        states = {
            name: str(i) for i, name in enumerate(self.tables.get("states", {}).get("name", []))
        }
        named = self.tables.get("doses", {"name": [], "dose": []})
        doses = dict(zip(named["name"], named["dose"], strict=True))
        self.chances: dict[tuple[str, Fraction, int], Sequence[Fraction]] = {}
        table = self.tables["transitions"]
        for index, model in enumerate(self.column("transitions", "model")):
            state, dose = table["state"][index], table["dose"][index]
            key = model, number(doses.get(dose, dose)), int(number(states.get(state, state)))
            row = [part[index] for part in to]
            self.chances[key] = row
            if min(row) < Fraction(0) or abs(sum(row, Fraction(-1))) > SLACK:
                raise Unreadable(f"transitions row {index + 1} is no distribution.")
        self.doses = {
            model: sorted({dose for own, dose, _ in self.chances if own == model})
            for model in self.rewards
        }

    def level(self, arm: int, dose: Fraction) -> int:
        """Return the level of an arm's table that a dose is nearest to."""
        doses = self.doses[self.model[arm]]
        return min(range(len(doses)), key=lambda level: abs(doses[level] - dose))

    def _reach(self) -> None:
        """Say how columns make doses: `terms_of_level` by arm, and the level without any."""
        weights: list[list[tuple[str, Fraction]]] = [[] for _ in self.arms]
        add = self.system.add
        if "influence" in self.tables:
            place = {name: j for j, name in enumerate(self.arms)}
            names = zip(
                self.column("influence", "arm"), self.column("influence", "action"), strict=True
            )
            for (name, action), w in zip(names, self.numbers("influence", "weight"), strict=True):
                weights[place[name]].append((action, w))
        else:
            weights = [[(name, Fraction(1))] for name in self.arms]
        self.idle = [self.level(arm, Fraction(0)) for arm in range(len(self.arms))]
        self.terms_of_level: list[dict[int, list[int]]] = [{} for _ in self.arms]
        for arm, own in enumerate(weights):
            by_level = self.terms_of_level[arm]
            if len(own) == 1:
                level = self.level(arm, own[0][1])
                if level != self.idle[arm]:
                    by_level[level] = [add("act", own[0][0])]
            elif len(own) > MOST_REACHING:
                each = [
                    add("dose", arm, level) for level in range(len(self.doses[self.model[arm]]))
                ]
                given = [(add("act", name), -weight) for name, weight in own]
                doses = zip(each, self.doses[self.model[arm]], strict=True)
                self.system.row(f"dose of {self.arms[arm]}", [*doses, *given], 0, 0)
                self.system.row("one dose", [(column, 1) for column in each], 1, 1)
                by_level.update({level: [column] for level, column in enumerate(each)})
                by_level.pop(self.idle[arm], None)
            elif own:
                self._patterns(arm, sorted(own))

    def _patterns(self, arm: int, own: list[tuple[str, Fraction]]) -> None:
        """Add a column for each choice among the columns that reach an arm."""
        names = tuple(name for name, _ in own)
        is_new = ("choice", names, (0,) * len(own)) not in self.system.columns
        choices = list(product((0, 1), repeat=len(own)))
        columns = [self.system.add("choice", names, choice) for choice in choices]
        if is_new:
            self.system.row("one choice", [(column, 1) for column in columns], 1, 1)
            for index, name in enumerate(names):
                chosen = [
                    (c, 1) for c, choice in zip(columns, choices, strict=True) if choice[index]
                ]
                self.system.row(
                    f"choices of {name}", [*chosen, (self.system.add("act", name), -1)], 0, 0
                )
        for column, choice in zip(columns, choices, strict=True):
            dose = sum((w for (_, w), is_on in zip(own, choice, strict=True) if is_on), Fraction(0))
            level = self.level(arm, dose)
            if level != self.idle[arm]:
                self.terms_of_level[arm].setdefault(level, []).append(column)

    def _at_most_so_many(self) -> None:
        acts = [(self.system.add("act", name), 1) for name in self.actions]
        self.system.row("so many at most", acts, None, int(self.space.get("limit", len(acts))))

    def _budget(self) -> None:
        cost = enumerate(self.numbers("actions", "cost"))
        self.system.row("the budget", cost, None, number(self.space["limit"]))

    def _assignment(self) -> None:
        cost, add = self.numbers("actions", "cost"), self.system.add
        room = self.numbers("workers", "capacity")
        for worker, most in zip(self.workers, room, strict=True):
            load = [(add("visit", worker, n), c) for n, c in zip(self.actions, cost, strict=True)]
            self.system.row(f"capacity of {worker}", load, None, most)
            self._loads(worker, cost, most)
        for name in self.actions:
            visits = [(add("visit", worker, name), -1) for worker in self.workers]
            self.system.row(f"who visits {name}", [(add("act", name), 1), *visits], 0, 0)

    def _loads(self, worker: str, cost: list[Fraction], room: Fraction) -> None:
        """Let a worker carry one load: so many arms of each cost, none of which could be added."""
        is_exact = all(part.denominator == 1 for part in (*cost, room))
        sizes = sorted(set(cost))
        loads: list[tuple[tuple[int, ...], Fraction]]
        loads = [((), room if is_exact else room + SLACK * room)]
        for size in sizes:
            loads = [
                ((*load, times), left - times * size)
                for load, left in loads
                for times in range(min(cost.count(size), int(left / size)) + 1)
            ][: MOST_LOADS**2]
        whole = [
            load
            for load, left in loads
            if all(s > left or n == cost.count(s) for n, s in zip(load, sizes, strict=True))
        ]
        if len(loads) == MOST_LOADS**2 or len(whole) > MOST_LOADS:
            return
        columns = [self.system.add("load", worker, load) for load in whole]
        self.system.row(f"one load of {worker}", [(column, 1) for column in columns], None, 1)
        for place, size in enumerate(sizes):
            own = zip(self.actions, cost, strict=True)
            visits = [(self.system.add("visit", worker, name), 1) for name, c in own if c == size]
            carried = [(c, -load[place]) for c, load in zip(columns, whole, strict=True)]
            self.system.row(f"loads of {worker}", [*visits, *carried], None, 0)

    def _slots(self) -> None:
        """Visits in slots, of a schedule or a rota."""
        is_rota, add, slots = self.space["kind"] == "rota", self.system.add, self.space["slots"]
        length = (
            self.numbers("actions", "minutes") if is_rota else [Fraction(1)] * len(self.actions)
        )
        times = [number(self.space.get("visits", 2))] * len(self.actions)
        times = self.numbers("actions", "visits") if is_rota else times
        by_slot = {slot: self.numbers("workers", slot) for slot in slots}
        suits = {slot: self.numbers("actions", slot) for slot in slots}
        visits: dict[str, list[tuple[str, str, int]]] = {name: [] for name in self.actions}
        may = self.tables.get("visitors")
        who = {str(name): row for row, name in enumerate(may["name"])} if may else {}
        for (j, name), (w, worker), slot in product(
            enumerate(self.actions), enumerate(self.workers), slots
        ):
            if suits[slot][j] and by_slot[slot][w] and (not may or number(may[worker][who[name]])):
                visits[name].append((worker, slot, add("visit", worker, name, slot)))
        for j, name in enumerate(self.actions):
            each = [(column, 1) for *_, column in visits[name]]
            self.system.row(f"visits of {name}", [*each, (j, -times[j])], 0, 0)
            for worker in self.workers if self.space.get("distinct_workers") else ():
                same = [(column, 1) for own, _, column in visits[name] if own == worker]
                self.system.row(f"{worker} comes to {name} once", same, None, 1)
        most = self.space.get("most_in_a_row")
        for (w, worker), slot in product(enumerate(self.workers), slots):
            own = [
                (c, j)
                for j, n in enumerate(self.actions)
                for a, s, c in visits[n]
                if (a, s) == (worker, slot)
            ]
            load = [(column, length[j]) for column, j in own]
            self.system.row(f"{worker} in {slot}", load, None, by_slot[slot][w])
            for column, _ in own if most else ():
                self.system.row("busy", [(column, 1), (add("busy", worker, slot), -1)], None, 0)
        for worker, first in product(self.workers, range(len(slots) - int(most)) if most else ()):
            row = [(add("busy", worker, slot), 1) for slot in slots[first : first + int(most) + 1]]
            self.system.row(f"rest of {worker}", row, None, int(most))
        self._at_most_so_many()

    def _walk(self) -> None:
        """Hops along edges from step to step, a unit of flow from the source."""
        steps, source, add = int(self.space["length"]), self.space["source"], self.system.add
        into: dict[tuple[str, int], list[int]] = {}
        out: dict[tuple[str, int], list[int]] = {}
        ends = zip(self.column("edges", "from"), self.column("edges", "to"), strict=True)
        for (a, b), length in zip(ends, self.numbers("edges", "length"), strict=True):
            for (u, v), now in product(((a, b), (b, a)), range(steps - int(length) + 1)):
                hop = add("hop", u, v, now, now + int(length))
                out.setdefault((u, now), []).append(hop)
                into.setdefault((v, now + int(length)), []).append(hop)
        for name, now in product(self.actions, range(steps + 1)):
            flow = [(hop, 1) for hop in out.get((name, now), ())]
            flow += [(hop, -1) for hop in into.get((name, now), ())]
            is_source = name == source
            low = None if is_source else 0
            self.system.row(f"{name} at step {now}", flow, low, int(is_source and now == 0))
        for name in self.actions:
            visits = [(h, -1) for now in range(steps + 1) for h in into.get((name, now), ())]
            high = int(name == source)
            self.system.row(f"{name} is visited", [(add("act", name), 1), *visits], None, high)
        self._at_most_so_many()

    def _team(self) -> None:
        """Trips from place to place; rounds that miss the depot are no plan, but not ruled out."""
        add, service = self.system.add, self.numbers("actions", "minutes")
        places = [
            *self.actions,
            *(self.column("places", "name") if "places" in self.tables else []),
        ]
        ways = {(a, b): Fraction(0 if a == b else 10**12) for a in places for b in places}
        ends = zip(self.column("travel", "from"), self.column("travel", "to"), strict=True)
        for (a, b), minutes in zip(ends, self.numbers("travel", "minutes"), strict=True):
            ways[a, b] = min(ways[a, b], minutes)
        for via, a, b in product(places, places, places):
            ways[a, b] = min(ways[a, b], ways[a, via] + ways[via, b])
        self.ways, self.depot = (
            ways,
            dict(zip(self.workers, self.column("workers", "depot"), strict=True)),
        )
        self.service = dict(zip(self.actions, service, strict=True))
        self.room = dict(zip(self.workers, self.numbers("workers", "minutes"), strict=True))
        times = {
            name: [time_of_day(cell) for cell in self.tables[table].get(name, [""] * len(own))]
            for table, name, own in (
                ("workers", "begins", self.workers),
                ("actions", "earliest", self.actions),
                ("actions", "latest", self.actions),
            )
        }
        begins = [MORNING if time is None else time for time in times["begins"]]
        self.begins = dict(zip(self.workers, begins, strict=True))
        windows = zip(times["earliest"], times["latest"], strict=True)
        self.windows = dict(zip(self.actions, windows, strict=True))
        may = self.tables.get("visitors")
        who = {str(name): row for row, name in enumerate(may["name"])} if may else {}
        served: dict[str, list[tuple[int, int]]] = {name: [] for name in self.actions}
        for worker, most in zip(self.workers, self.numbers("workers", "minutes"), strict=True):
            own = [n for n in self.actions if not may or number(may[worker][who[n]])]
            trips = [
                (a, b, add("trip", worker, a, b))
                for a, b in product([None, *own], repeat=2)
                if a != b
            ]
            place = {None: self.depot[worker]} | {name: name for name in own}
            load = [
                (c, ways[place[a], place[b]] + (self.service[b] if b else 0)) for a, b, c in trips
            ]
            self.system.row(f"minutes of {worker}", load, None, most)
            self.system.row(
                f"{worker} sets out", [(c, 1) for a, _, c in trips if a is None], None, 1
            )
            for stop in [None, *own]:
                flow = [(c, 1) for _, b, c in trips if b == stop]
                flow += [(c, -1) for a, _, c in trips if a == stop]
                self.system.row(f"{worker} goes on", flow, 0, 0)
            for _, stop, c in trips:
                if stop:
                    served[stop].append((c, -1))
        for name in self.actions:
            self.system.row(f"who serves {name}", [(add("act", name), 1), *served[name]], 0, 0)

    def _custom(self) -> None:
        add = self.system.add
        known = {name: add("act", name) for name in self.actions}
        known |= {name: add("plan", name) for name in self.column("plan", "name")}
        terms: dict[str, list[tuple[int, Fraction]]] = {n: [] for n in self.column("rows", "name")}
        cells = (self.column("coefficients", "row"), self.column("coefficients", "column"))
        for row, column, value in zip(*cells, self.numbers("coefficients", "value"), strict=True):
            terms[row].append((known[column], value))
        for index, (row, own) in enumerate(terms.items()):
            low, high = (limit(self.tables["rows"][end][index]) for end in ("lower", "upper"))
            self.system.row(row, own, low, high)

    def _extra_rules(self) -> None:
        """Groups and floors, must and never, who is off, what is locked."""
        rules, columns, act = (
            self.rules,
            self.system.columns,
            lambda name: self.system.columns["act", name],
        )
        everyone = [(act(name), 1) for name in self.actions]
        for floor in rules.get("floors", ()):
            inside = [(act(name), 1) for name in set(rules["groups"][floor["group"]])]
            share = number(floor.get("share", 0))
            part = [(column, -share) for column, _ in everyone]
            self.system.row(f"share of {floor['group']}", [*inside, *part], 0, None)
            self.system.row(f"count of {floor['group']}", inside, int(floor.get("count", 0)), None)
        for word, low, high in (("must", 1, None), ("never", None, 0)):
            for name in rules.get(word, ()):
                self.system.row(f"{word}: {name}", [(act(name), 1)], low, high)
        for names in rules.get("at_most_one", ()):
            self.system.row("at most one", [(act(name), 1) for name in set(names)], None, 1)
        for worker in rules.get("absent", ()):
            work = [
                (c, 1)
                for key, c in columns.items()
                if key[0] in ("visit", "trip") and key[1] == worker
            ]
            self.system.row(f"{worker} is off", work, None, 0)
        for lock in rules.get("locks", ()):
            want = (lock.get("worker"), lock["arm"], lock.get("slot"))

            def fits(key: Column, want: tuple[str | None, ...] = want) -> bool:
                if key[0] == "visit":
                    return all(w in (None, k) for w, k in zip(want, key[1:], strict=False))
                return key[0] == "trip" and key[3] == want[1] and want[0] in (None, key[1])

            visits = [(column, 1) for key, column in columns.items() if fits(key)]
            self.system.row(f"locked: {lock['arm']}", visits, 1, None)
        for order in rules.get("orders", ()):
            for pair in pairwise(order):
                ways = [key for key in columns if key[0] == "trip" and key[2:] == pair]
                self.system.row(f"straight after: {pair}", [(columns[w], 1) for w in ways], 1, None)
