"""Prices: the Lagrangian relaxation of what ties arms together."""
