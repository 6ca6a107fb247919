"""Benchmarks of the field: environments, baselines and published figures."""
