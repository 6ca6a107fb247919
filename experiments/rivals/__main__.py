"""Train rivals for longer than the paper's experiment does."""

from experiments.rivals.longer import main

if __name__ == "__main__":
    main()
