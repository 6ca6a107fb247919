"""Today's plan: who does what, what it is worth, and why."""
