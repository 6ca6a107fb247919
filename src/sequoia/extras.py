"""Which optional extra brings a package that is missing."""

from sequoia.errors import MissingPackage

# Packages that only an extra brings, by the name they are imported by.
EXTRAS = {
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
    if package not in EXTRAS:
        return None
    return MissingPackage(
        f'{package} is not installed; pip install "sequoia-plan[{EXTRAS[package]}]".'
    )
