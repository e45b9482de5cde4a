"""Linear algebra of many small products, in one thread.

Threads that share such products wait for each other longer than they work, on a busy machine by fifty times;
and sums that are shared out otherwise are rounded otherwise.
"""

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """Work in one thread for a while."""
    limit: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """Those that are loaded, which takes a moment to find out."""
    return ThreadpoolController()
