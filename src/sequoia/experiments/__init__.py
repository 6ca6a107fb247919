"""Fair comparisons, today's plan, reports and pictures."""

from sequoia.experiments.evaluate import evaluate
from sequoia.experiments.evaluation import Evaluation, Example
from sequoia.experiments.evaluation_file import load_evaluation, save_evaluation
from sequoia.experiments.intervals import Estimate
from sequoia.experiments.progress import Progress

__all__ = [
    "Estimate",
    "Evaluation",
    "Example",
    "Progress",
    "evaluate",
    "load_evaluation",
    "save_evaluation",
]
