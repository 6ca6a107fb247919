"""The fingerprint of an environment: a hash of its content."""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray


def fingerprint(*parts: str | float | NDArray[Any]) -> str:
    """Return 16 hexadecimal digits that change whenever a text, a number or an array does."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        else:
            digest.update(repr(part).encode())
        digest.update(b"\n")
    return digest.hexdigest()[:16]
