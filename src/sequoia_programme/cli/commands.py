"""The commands that this package adds to ``sequoia``."""

from sequoia.cli.late import Late

PROGRAMME = Late(
    "sequoia_programme.cli.programme",
    "app",
    "Keep a programme: roster, log and plans, day by day.",
)
SERVE = Late(
    "sequoia_programme.cli.serve",
    "serve",
    "Open a programme as a page in the browser, until Ctrl-C.",
)
