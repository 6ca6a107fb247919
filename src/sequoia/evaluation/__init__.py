"""Fair comparisons, today's plan, reports and pictures."""

from sequoia.evaluation.blocks import Progress
from sequoia.evaluation.evaluate import evaluate
from sequoia.evaluation.evaluation import Evaluation
from sequoia.evaluation.evaluation_file import load_evaluation, save_evaluation
from sequoia.evaluation.intervals import Estimate

__all__ = [
    "Estimate",
    "Evaluation",
    "Progress",
    "evaluate",
    "load_evaluation",
    "save_evaluation",
]
