"""Mutated inputs: ``python benchmarks/fuzz_inputs.py --cases 10000``.

Every command must end with exit code 0 or 2 (a sweep whose cells failed: 1), with a line for each
error and no traceback, within 30 seconds of processor time and 2 GiB of memory of its own.
"""

import os

# Before numpy is imported: a process with several threads should not be forked.
os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from multiprocessing import Process
from pathlib import Path

from fuzz.corpus import write_corpus
from fuzz.forked import forked, import_everything
from fuzz.verdict import run_case


def fuzz(numbers: Iterable[int], folder: Path) -> Counter[str]:
    """Run cases, print what is wrong, and return how many were fine and how many not."""
    corpus, room = folder / "corpus", folder / "room"
    import_everything()
    # In a process of its own: whoever has solved a program has threads, which a fork loses.
    writer = Process(target=write_corpus, args=(corpus,))
    writer.start()
    writer.join()
    if writer.exitcode:
        raise RuntimeError("the inputs to be mutated could not be written")
    counted: Counter[str] = Counter()
    began = time.monotonic()
    for number in numbers:
        shutil.rmtree(room, ignore_errors=True)
        words, said = forked(run_case, number, corpus, room)
        counted["wrong" if said else "fine"] += 1
        if said:
            print(f"{words or f'case {number}'}\n  {said}", flush=True)
        if counted.total() % 500 == 0:
            spent = time.monotonic() - began
            print(f"{counted.total()} cases, {counted['wrong']} wrong, {spent:.0f} s", flush=True)
    return counted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of cases to run again")
    options = parser.parse_args()
    numbers = options.only or range(options.first, options.first + options.cases)
    with tempfile.TemporaryDirectory() as folder:
        counted = fuzz(numbers, Path(folder))
    print(f"{counted.total()} mutated inputs: {counted['wrong']} wrong")
    sys.exit(1 if counted["wrong"] else 0)


if __name__ == "__main__":
    main()
