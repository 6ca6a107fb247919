"""How good is it? What plans earn against what is possible, for whom, and what staff is worth."""

from starlette.responses import Response

from sequoia_programme.quality import GroupShare, Quality, read_quality
from sequoia_programme.web.call import Call
from sequoia_programme.web.picture import Bar, bars, foresight_dots


def show(call: Call) -> Response:
    """Show what was found out last, and what is being computed."""
    found = read_quality(call.programme)
    values: dict[str, object] = {"outcomes": [], "groups": [], "dots": []}
    if found is not None:
        values = {
            "outcomes": _outcomes(found),
            "groups": [(one, _of_group(found, one)) for one in found.groups],
            "dots": foresight_dots(found.foresight.bins) if found.foresight else [],
        }
    return call.page("quality.html", quality=found, job=call.site.jobs.last, **values)


def _outcomes(found: Quality) -> list[Bar]:
    played = [(f"policy.{name}", mean, half) for name, (mean, half) in found.rewards.items()]
    return bars([("bound", found.bound, 0.0), *played, ("now", found.now, 0.0)], found.bound)


def _of_group(found: Quality, group: GroupShare) -> list[Bar]:
    """Return how a group fares, beside the best that any group fares."""
    most = max(max(one.now, *one.rewards.values()) for one in found.groups)
    played = [(f"policy.{name}", mean, 0.0) for name, mean in group.rewards.items()]
    return bars([*played, ("now", group.now, 0.0)], most)


def start(call: Call) -> Response:
    """Begin to compute."""
    call.site.jobs.start(call.text("kind"), call.site.today(), call.programme.actor)
    return call.go("/quality")


def stop(call: Call) -> Response:
    """Stop what is being computed."""
    call.site.jobs.stop()
    return call.go("/quality", call.words("quality.stopped"))
