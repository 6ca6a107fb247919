"""The commands ``sequoia programme`` and ``sequoia serve``."""
