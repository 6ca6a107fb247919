"""Comparisons, reports and pictures."""
