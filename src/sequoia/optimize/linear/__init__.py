"""Linear objectives over action spaces: oracles, relaxations and the exact argmax."""
