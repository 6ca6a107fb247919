"""Small matrix products are faster on one thread than shared out among several."""

from collections.abc import Callable
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Function = TypeVar("Function", bound=Callable[..., object])

_CONTROLLER = ThreadpoolController()


def on_one_thread(function: Function) -> Function:
    """Return ``function`` with its matrix products kept on one thread."""
    wrapped: Function = _CONTROLLER.wrap(limits=1, user_api="blas")(function)
    return wrapped
