"""How good is it? What plans earn against what is possible, for whom, and what staff is worth."""

from starlette.responses import Response

from sequoia.programme.quality import read_quality
from sequoia.web.call import Call


def show(call: Call) -> Response:
    """Show what was found out last, and what is being computed."""
    found = read_quality(call.programme)
    bars = []
    if found is not None:
        bars = [(f"policy.{name}", mean, half) for name, (mean, half) in found.rewards.items()]
        bars = [("bound", found.bound, 0.0), *bars, ("now", found.now, 0.0)]
    return call.page("quality.html", quality=found, bars=bars, job=call.site.jobs.last)


def start(call: Call) -> Response:
    """Begin to compute."""
    call.site.jobs.start(call.text("kind"), call.site.today(), call.programme.actor)
    return call.go("/quality")


def stop(call: Call) -> Response:
    """Stop what is being computed."""
    call.site.jobs.stop()
    return call.go("/quality", call.words("quality.stopped"))
