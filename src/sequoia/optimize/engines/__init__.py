"""Engines that find the best action of a network."""
