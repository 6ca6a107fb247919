"""Experiments beside the library: benchmarks of the field and what they are compared with."""
