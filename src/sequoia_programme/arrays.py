"""Arrays as the bytes that a database keeps."""

import io
from typing import Any

import numpy as np

from sequoia_programme.sound import Damaged


def to_bytes(**arrays: Any) -> bytes:
    """Return named arrays as bytes."""
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    return content.getvalue()


def from_bytes(content: bytes) -> dict[str, Any]:
    """Return named arrays from bytes, or raise `Damaged`."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except Exception as error:  # there is no end to what damaged bytes provoke
        raise Damaged(f"arrays cannot be read: {' '.join(str(error).split())[:100]}") from None
