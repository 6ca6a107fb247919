"""The quick rows of `benchmarks/blind.py`: what learning from `step` alone must not lose."""

import blind


def test_blind_it_is_far_above_myopic_and_near_the_best_heuristic():
    """Takes half a minute: two whole trainings."""
    blind.quick()
