"""The table that says who may visit whom: a row per arm, a column per worker."""

from collections.abc import Sequence

import numpy as np

from sequoia.problem.tables import Table, TableSet, table
from sequoia.validation import BoolArray


def visitors_table(
    may_visit: BoolArray, names: Sequence[str], worker_names: Sequence[str]
) -> dict[str, Table]:
    """Return the table of ``may_visit``, ``(W, J)``; none where everybody may visit everybody."""
    if may_visit.all():
        return {}
    columns = dict(zip(worker_names, may_visit, strict=True))
    return table("visitors", **{"name": names} | columns)


def read_visitors(
    content: TableSet, names: Sequence[str], worker_names: Sequence[str]
) -> BoolArray | None:
    """Return who may visit whom, ``(W, J)``; ``None`` where there is no such table."""
    if "visitors" not in content.tables:
        return None
    visitors = content.table("visitors")
    places = visitors.places("name", names)
    may = np.array([visitors.booleans(worker) for worker in worker_names], dtype=np.bool_)
    may = may.reshape(len(worker_names), len(visitors))
    for arm in sorted(set(range(len(names))) - set(places.tolist())):
        content.found.append(f"{visitors.where} has no row for {names[arm]!r}.")
    result = np.zeros((len(worker_names), len(names)), dtype=np.bool_)
    result[:, places] = may
    return result
