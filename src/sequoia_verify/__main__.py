"""``python -m sequoia_verify FILE.json …``: say what holds; 1 where a claim does not."""

import sys
from pathlib import Path

from sequoia_verify import NotVerified, Unreadable, verify


def main(files: list[str]) -> int:
    """Verify each file; print a line for each fact, or the one that says what does not hold."""
    worst = 0 if files else 2
    for file in files:
        try:
            print("\n".join(verify(Path(file).read_text("utf-8"))))
        except NotVerified as error:
            print(f"{file}: NOT VERIFIED: {error}")
            worst = max(worst, 1)
        except (Unreadable, OSError, UnicodeDecodeError) as error:
            print(f"{file}: {error}", file=sys.stderr)
            worst = 2
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
