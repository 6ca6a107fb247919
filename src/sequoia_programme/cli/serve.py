"""``sequoia serve``: the planner's page."""

import secrets
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import date
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated

import typer

from sequoia.errors import ProblemError
from sequoia.io import held, remove_unheld

_DEMO = "sequoia-demo-"


def serve(
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="The folder of the programme.")
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="A ready programme, in a folder that goes with the page.")
    ] = False,
    host: Annotated[
        str, typer.Option(help="Where to listen; other machines need accounts.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port.", min=1, max=65535)] = 8000,
    certificate: Annotated[
        Path | None, typer.Option(metavar="PEM", help="For HTTPS, with --key.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="PEM", help="For HTTPS, with --certificate.")
    ] = None,
    behind_proxy: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="The server in front that ends TLS, such as 127.0.0.1; or its network.",
        ),
    ] = "",
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Let other machines in without TLS.")
    ] = False,
    log: Annotated[
        bool, typer.Option("--log", help="Write a line of JSON for each request to stderr.")
    ] = False,
) -> None:
    """Open a programme as a page in the browser, until Ctrl-C.

    It is made for a house, not for the internet: there, a server such as nginx or Caddy belongs in
    front of it, named with --behind-proxy.
    """
    if (folder is None) is not demo:
        raise ProblemError("a FOLDER or --demo is wanted, one of them.")
    for path in (certificate, key):
        if (certificate is None) is not (key is None) or (path is not None and not path.is_file()):
            raise ProblemError("--certificate and --key are wanted together, both files.")
    for part in behind_proxy.split(",") if behind_proxy else ():
        if not _is_address(part):
            raise ProblemError(
                f"--behind-proxy is {part!r}; an address such as 127.0.0.1, or a network such as "
                "10.0.0.0/8, is wanted."
            )
    from sequoia_programme.accounts import has_accounts
    from sequoia_programme.demo import make_demo
    from sequoia_programme.settings import read_programme
    from sequoia_programme.web.app import serve as serve_page
    from sequoia_programme.web.call import ENTER

    scheme = "http" if certificate is None else "https"
    shown = f"[{host}]" if ":" in host else host
    # The server ends in good order, then sends itself the signal again: the folder goes first.
    signal.signal(signal.SIGTERM, _end)
    with demo_folder() if folder is None else nullcontext(folder) as opened:
        if demo:
            make_demo(opened, date.today())
        # Without accounts, whoever reads this is let in, and nobody else.
        has_key = demo or not has_accounts(read_programme(opened))
        entry = secrets.token_urlsafe(16) if has_key else ""
        opened_at = f"{ENTER}?key={entry}" if entry else "/"
        where = f"Open {scheme}://{shown}:{port}{opened_at} in a browser. Ctrl-C ends it."
        serve_page(
            opened,
            host,
            port,
            certificate=certificate,
            key=key,
            proxy=behind_proxy,
            insecure=insecure,
            logs=log,
            entry=entry,
            begins=partial(typer.echo, where),
        )


def _is_address(text: str) -> bool:
    try:
        ip_network(text.strip())
    except ValueError:
        return False
    return True


def _end(number: int, _: object) -> None:
    raise SystemExit(128 + number)


@contextmanager
def demo_folder() -> Iterator[Path]:
    """Give a folder that goes with the process; those that a killed one left go now."""
    with tempfile.TemporaryDirectory(prefix=_DEMO) as made, held(Path(made)):
        remove_unheld(Path(made).parent.glob(f"{_DEMO}*"))
        yield Path(made) / "clinic"
