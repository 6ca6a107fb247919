"""Run the paper's experiment."""

import sys

from experiments.paper.command import app
from sequoia.cli.errors import run

if __name__ == "__main__":
    sys.exit(run(app, None, "python -m experiments.paper"))
