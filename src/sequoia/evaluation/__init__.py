"""Fair comparisons, today's plan, reports and pictures."""

from sequoia.evaluation.evaluate import evaluate
from sequoia.evaluation.evaluation import Evaluation, Example
from sequoia.evaluation.evaluation_file import load_evaluation, save_evaluation
from sequoia.evaluation.intervals import Estimate
from sequoia.evaluation.progress import Progress

__all__ = [
    "Estimate",
    "Evaluation",
    "Example",
    "Progress",
    "evaluate",
    "load_evaluation",
    "save_evaluation",
]
