"""Parts that other packages add by entry points: policies, learners, models, spaces, solvers."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from sequoia.errors import PluginError
from sequoia.extras import missing_package

Part = TypeVar("Part")


class Parts(Mapping[str, Part]):
    """Parts of one kind by name: the library's, then those of other packages.

    A package adds a part by an entry point of ``group``, such as ``sequoia.policies``; installing
    the package is enough. The part is imported when it is first asked for.

    Attributes
    ----------
    group
        The group of entry points.
    library
        The library's parts.
    """

    def __init__(self, group: str, library: Mapping[str, Part]) -> None:
        self.group, self.library = group, dict(library)

    @cached_property
    def added(self) -> Mapping[str, EntryPoint]:
        """Where the parts of other packages are, by name.

        Raises
        ------
        PluginError
            When two packages, or a package and the library, have a part of the same name.
        """
        points = list(entry_points(group=self.group))
        names = Counter([*self.library, *(point.name for point in points)])
        for point in points:
            if names[point.name] > 1:
                raise PluginError(
                    f"{_origin(point)} adds {point.name!r} to {self.group}, where that name is "
                    "taken; uninstall it, or give its part another name."
                )
        return {point.name: point for point in points}

    def __getitem__(self, name: str) -> Part:
        """Return a part, imported where another package has it."""
        if name in self.library:
            return self.library[name]
        point = self.added[name]
        try:
            part: Part = point.load()
        except ModuleNotFoundError as error:
            raise missing_package(error) or _broken(point, error) from error
        except (ImportError, AttributeError) as error:
            raise _broken(point, error) from error
        return part

    def __iter__(self) -> Iterator[str]:
        yield from self.library
        yield from self.added

    def __len__(self) -> int:
        return len(self.library) + len(self.added)


def _broken(point: EntryPoint, error: Exception) -> PluginError:
    return PluginError(
        f"{_origin(point)} adds {point.name!r} to {point.group}, but {point.value} cannot be "
        f"imported: {error}."
    )


def _origin(point: EntryPoint) -> str:
    return "A package" if point.dist is None else f"The package {point.dist.name}"
