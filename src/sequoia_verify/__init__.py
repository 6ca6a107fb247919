"""A checker of plans, bounds and proofs that shares no code with the program that made them.

It needs Python alone, reads the words of an instance (its tables and options), writes the rules
anew from these, and computes in exact fractions: ``python -m sequoia_verify FILE.json``.
"""

from sequoia_verify.claims import verify
from sequoia_verify.words import NotVerified, Unreadable

__all__ = ["NotVerified", "Unreadable", "verify"]
