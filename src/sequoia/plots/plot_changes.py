"""What changed between two plans: who is visited in both, only before, or only after."""

from matplotlib.axes import Axes

from sequoia.planning.plan import Plan
from sequoia.plots.canvas import BLUE, GREY, VERMILION, new_axes, title
from sequoia.plots.names import shortened
from sequoia.problem.spaces.base import Task

# More letters do not fit into half of the picture.
_MOST_LETTERS = 44


def plot_changes(before: Plan, after: Plan, ax: Axes | None = None) -> Axes:
    """Draw the tasks of two plans side by side, those that are the same in grey.

    What is gone is on the left in vermilion, what is new on the right in blue; a line joins the two
    tasks of someone who is visited by somebody else, or at another time.
    """
    old, new = _by_place(before), _by_place(after)
    changed = [name for name in [*old, *new] if old.get(name) != new.get(name)]
    same = [name for name in old if old[name] == new.get(name)]
    rows = [*dict.fromkeys(changed), *same]
    ax = ax if ax is not None else new_axes(8.0, 1.1 + 0.26 * max(1, len(rows)))
    for row, name in enumerate(rows):
        is_same = name in same
        if name in old:
            colour = GREY if is_same else VERMILION
            ax.text(0.34, row, _say(old[name]), ha="right", va="center", color=colour, fontsize=9)
        if name in new:
            colour = GREY if is_same else BLUE
            ax.text(0.66, row, _say(new[name]), ha="left", va="center", color=colour, fontsize=9)
        if name in old and name in new:
            ax.plot([0.36, 0.64], [row, row], color=GREY, linewidth=1.0)
    ax.text(0.34, -1, "before", ha="right", va="center", fontsize=9, weight="bold")
    ax.text(0.66, -1, "after", ha="left", va="center", fontsize=9, weight="bold")
    ax.set_xlim(0, 1)
    ax.set_ylim(len(rows), -1.8)
    ax.set_axis_off()
    gone, come = (sum(name not in other for name in one) for one, other in ((old, new), (new, old)))
    title(ax, f"{gone} gone, {come} new, {len(changed) - gone - come} moved, {len(same)} the same")
    return ax


def _by_place(plan: Plan) -> dict[str, tuple[Task, ...]]:
    """Return the tasks at each place."""
    places: dict[str, tuple[Task, ...]] = {}
    for task in plan.tasks:
        places[task.where] = (*places.get(task.where, ()), task)
    return places


def _say(tasks: tuple[Task, ...]) -> str:
    """Say who does it when, and where."""
    when = ", ".join(" ".join(filter(None, (task.who, task.when))) for task in tasks)
    return shortened(
        f"{tasks[0].where} ({when})" if when.strip(", ") else tasks[0].where, _MOST_LETTERS
    )
