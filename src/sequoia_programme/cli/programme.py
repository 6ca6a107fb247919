"""``sequoia programme``: keep a programme from day to day."""

import typer

from sequoia_programme.cli.accounts import app as accounts
from sequoia_programme.cli.backups import backup, restore
from sequoia_programme.cli.begin import init
from sequoia_programme.cli.daily import cancel, fit, history, plan, publish, today
from sequoia_programme.cli.how_good import drift, quality, rules, train
from sequoia_programme.cli.looking_back import replay, shadow
from sequoia_programme.cli.people import absent, forget, rename
from sequoia_programme.cli.sheets import export, import_, record
from sequoia_programme.cli.tokens import app as tokens

app = typer.Typer(
    name="programme",
    help="Keep a programme: roster, log and plans, day by day.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
app.add_typer(accounts)
app.add_typer(tokens)
app.command()(init)
app.command("import")(import_)
for _command in (
    *(
        record,
        fit,
        today,
        plan,
        publish,
        cancel,
        history,
        quality,
        drift,
        replay,
        shadow,
        rules,
        train,
        export,
    ),
    *(absent, rename, forget, backup, restore),
):
    app.command()(_command)
