"""`make test` lets mypy check `tests/typed`; here, that it is what the README shows."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_readmes_example_is_checked():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    checked = (ROOT / "tests/typed/readme.py").read_text(encoding="utf-8")
    assert re.findall(r"```python\n(.*?)```", readme, re.DOTALL) == [checked]
