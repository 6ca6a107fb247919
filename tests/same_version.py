"""Say where another version is written than the package has.

    python tests/same_version.py v0.2.0

With a tag it also wants that version in the changelog, as it is before a release.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Where the version is written, besides `src/sequoia/version.py`.
PLACES = {
    "CITATION.cff": r"^version: (.+)$",
    "docs/citing.md": r"^  version = \{(.+)\},$",
}


def read(name: str) -> str:
    """Return the text of a file."""
    return (ROOT / name).read_text(encoding="utf-8")


def version() -> str:
    """Return the version that the package has."""
    (found,) = re.findall(r'^__version__ = "(.+)"$', read("src/sequoia/version.py"), re.M)
    return str(found)


def differences(tag: str = "") -> list[str]:
    """Return one line for each place that says another version."""
    wanted = version()
    lines = [
        f"{name} says {found}; {wanted} is wanted."
        for name, pattern in PLACES.items()
        for found in re.findall(pattern, read(name), re.M) or ["nothing"]
        if found != wanted
    ]
    if tag and tag != f"v{wanted}":
        lines.append(f"the tag is {tag}; v{wanted} is wanted.")
    section = rf"^## {re.escape(wanted)} - \d{{4}}-\d\d-\d\d$"
    if tag and not re.search(section, read("CHANGELOG.md"), re.M):
        lines.append(f"CHANGELOG.md has no section '## {wanted} - YEAR-MONTH-DAY'.")
    return lines


if __name__ == "__main__":
    sys.exit("\n".join(differences(*sys.argv[1:])))
