"""What a trained thing is: its form, its parts, its files; no torch."""
