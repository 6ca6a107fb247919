"""``python -m sequoia``: the command."""

from sequoia.cli import main

if __name__ == "__main__":
    main()
