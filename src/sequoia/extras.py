"""Which optional extra brings a package that is missing."""

from importlib.util import find_spec

from sequoia.errors import MissingPackage

# Packages that only an extra brings, by the name they are imported by.
EXTRAS = {
    "gymnasium": "gym",
    "pettingzoo": "pettingzoo",
    "ray": "ray",
    "torch": "learn",
    **dict.fromkeys(
        (
            *("sqlalchemy", "starlette", "uvicorn", "h11", "jinja2", "argon2"),
            *("python_multipart", "openpyxl"),
        ),
        "programme",
    ),
}


def missing_package(error: ModuleNotFoundError) -> MissingPackage | None:
    """Return what to install where a failed import wanted a package of an extra, else ``None``."""
    package = (error.name or "").partition(".")[0]
    return _missing(package) if package in EXTRAS else None


def require(package: str) -> None:
    """Raise what to install where a package of an extra is not installed."""
    if find_spec(package) is None:
        raise _missing(package)


def _missing(package: str) -> MissingPackage:
    return MissingPackage(
        f'{package} is not installed; pip install "sequoia-plan[{EXTRAS[package]}]".'
    )
