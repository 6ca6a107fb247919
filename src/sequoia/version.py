"""The version of this package, written once, and the commit it comes from."""

from pathlib import Path

__version__ = "0.2.0"
_SHORT = 7


def commit() -> str:
    """Return the commit of the checkout that this code is in; empty where it is none."""
    git = Path(__file__).parents[2] / ".git"
    try:
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head[:_SHORT]
        ref = head.removeprefix("ref: ")
        if (git / ref).is_file():
            return (git / ref).read_text().strip()[:_SHORT]
        packed = (git / "packed-refs").read_text().splitlines()
        return next(line[:_SHORT] for line in packed if line.endswith(f" {ref}"))
    except (OSError, StopIteration):
        return ""
