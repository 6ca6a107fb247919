"""Install a wheel without extras where nothing is, and use it as a newcomer would.

python tests/try_wheel.py dist/sequoia_plan-0.2.0-py3-none-any.whl
"""

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# The goal is 1,000,000. A wheel is sources, some 16 bytes a line: what is above goes with lines.
MOST_BYTES = 1_150_000
COMMANDS = (
    "make capacity --arms 6 --workers 2 --horizon 6 -o p.npz",
    "show p.npz",
    "bound p.npz",
    "evaluate p.npz --policies random,myopic,price --episodes 4",
)
# What these need is not installed; each says in one line which extra brings it.
WITHOUT = {"train p.npz -o m": "learn", "serve --demo": "programme"}
HEAVY = ("torch", "sqlalchemy", "starlette", "uvicorn", "argon2-cffi", "gymnasium", "ray")


def main(wheel: Path) -> None:
    """Install, look at what came along, run the README's example and some commands."""
    size = wheel.stat().st_size
    require(size <= MOST_BYTES, f"{wheel} has {size:,} bytes; at most {MOST_BYTES:,} are wanted.")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "venv", with_pip=True)
        scripts = place / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        pip = (str(scripts / "python"), "-m", "pip", "--disable-pip-version-check")
        constraints = str(ROOT / "constraints.txt")
        run(place, *pip, "install", "--quiet", "--constraint", constraints, str(wheel.resolve()))
        installed = run(place, *pip, "list", "--format", "freeze").stdout.lower()
        came = [name for name in HEAVY if f"\n{name}==" in installed]
        require(not came, f"installed without an extra, though only an extra needs it: {came}.")
        print(run(place, str(scripts / "python"), "-c", example()).stdout, end="")
        for line in COMMANDS:
            run(place, str(scripts / "sequoia"), *line.split())
        for line, extra in WITHOUT.items():
            done = run(place, str(scripts / "sequoia"), *line.split(), code=2)
            said = f'pip install "sequoia-plan[{extra}]"' in done.stderr.splitlines()[-1]
            require(said, f"sequoia {line} does not say which extra it needs: {done.stderr}")
    print(f"{wheel.name}: {size:,} bytes; installed without extras, it does what the README says.")


def example() -> str:
    """Return the README's example in Python."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return str(code)


def run(place: Path, *command: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command in an empty folder, and see that it ends as it should."""
    done = subprocess.run(command, cwd=place, capture_output=True, text=True)
    require(done.returncode == code, f"{command} ended with {done.returncode}: {done.stderr}")
    return done


def require(holds: bool, otherwise: str) -> None:
    """End with a message where something does not hold."""
    if not holds:
        sys.exit(otherwise)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
