"""A rota as options and tables."""

from typing import TYPE_CHECKING, Any

import numpy as np

from sequoia.problem.spaces.visitors import read_visitors, visitors_table
from sequoia.problem.tables import Column, TableSet, table
from sequoia.validation import is_not_negative, is_positive

if TYPE_CHECKING:
    from sequoia.problem.spaces.rota.space import Rota


def to_tables(space: "Rota") -> TableSet:
    """Return options and tables."""
    slots = list(space.slot_names)
    arms: dict[str, Column] = {
        "name": space.names,
        "minutes": space.lengths,
        "visits": space.visits,
    }
    arms |= dict(zip(slots, space.arm_slots.T, strict=True))
    workers = {"name": space.worker_names} | dict(zip(slots, space.minutes.T, strict=True))
    tables = table("actions", **arms) | table("workers", **workers)
    tables |= visitors_table(space.may_visit, space.names, space.worker_names)
    options = {"limit": space.limit, "distinct_workers": space.distinct_workers, "slots": slots}
    if space.most_in_a_row is not None:
        options["most_in_a_row"] = space.most_in_a_row
    return TableSet(options, tables)


def from_tables(content: TableSet) -> dict[str, Any]:
    """Return what a `Rota` is made of."""
    content.known({"kind", "limit", "distinct_workers", "slots", "most_in_a_row"})
    slots = [str(slot) for slot in content.option("slots", list)]
    arms, workers = content.table("actions"), content.table("workers")
    names, worker_names = arms.names("name"), workers.names("name")
    lengths = arms.floats("minutes", is_positive, "a visit takes more than 0 minutes")
    visits = arms.integers("visits", least=1)
    wanted = "minutes are not negative"
    minutes = [workers.floats(slot, is_not_negative, wanted) for slot in slots]
    arm_slots = [arms.booleans(slot) for slot in slots]
    limit = content.option("limit", int, len(arms), least=0)
    is_distinct = content.option("distinct_workers", bool, False)
    in_a_row = None
    if "most_in_a_row" in content.options:
        in_a_row = content.option("most_in_a_row", int, least=1)
    may_visit = read_visitors(content, names, worker_names)
    content.settle()
    return {
        "minutes": np.array(minutes).reshape(len(slots), len(workers)).T,
        "arm_slots": np.array(arm_slots).reshape(len(slots), len(arms)).T,
        "lengths": lengths,
        "visits": visits,
        "may_visit": may_visit,
        "limit": limit,
        "distinct_workers": is_distinct,
        "most_in_a_row": in_a_row,
        "names": names,
        "worker_names": worker_names,
        "slot_names": slots,
    }
