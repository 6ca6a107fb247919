"""Data frames, in and out: pandas, polars, pyarrow and what else narwhals reads.

narwhals takes a quarter of a second to import, so it is imported where a table is asked for.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np

from sequoia.errors import MissingPackage, ProblemError
from sequoia.shown import Columns

Library = Literal["pandas", "polars", "pyarrow"]


def frame_of(columns: Columns, library: Library = "pandas") -> Any:
    """Return columns as a data frame of ``library``."""
    if library not in get_args(Library):
        raise ProblemError(f"library is {library!r}; {', '.join(get_args(Library))} are known.")
    import narwhals as nw

    try:
        return nw.from_dict(dict(columns), backend=library).to_native()
    except ModuleNotFoundError:
        raise MissingPackage(
            f"{library} is not installed; pip install {library}, or name another library."
        ) from None


def columns_of(where: str, frame: Any) -> dict[str, Any]:
    """Return the columns of a data frame, or of a mapping from names to columns.

    A column of numbers without gaps is an array; any other is text, and a gap is empty.
    """
    import narwhals as nw

    if isinstance(frame, Mapping):
        return {str(name): _column(list(values)) for name, values in frame.items()}
    read = nw.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(read, nw.DataFrame):
        raise ProblemError(
            f"{where} is of type {type(frame).__name__}; a data frame, or columns by name, is "
            "wanted."
        )
    return {str(name): _column(read[name].to_list()) for name in read.columns}


def is_frame(thing: Any) -> bool:
    """Say whether a thing is a data frame."""
    import narwhals as nw

    return isinstance(nw.from_native(thing, eager_only=True, pass_through=True), nw.DataFrame)


def _column(values: list[Any]) -> Any:
    array = np.asarray(values)
    if array.dtype.kind in "biu" or (array.dtype.kind == "f" and np.isfinite(array).all()):
        return array
    return ["" if _is_gap(value) else str(value) for value in values]


def _is_gap(value: Any) -> bool:
    """Say whether a cell is empty: None or, as only they differ from themselves, NaN and NaT."""
    return value is None or bool(value != value)
