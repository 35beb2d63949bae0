"""Exceptions that come from outside what runs: out of a signal's handler, or set by another thread.

Such an exception arrives once, wherever the program happens to be. Code that makes do with a failure of its own (a file that
cannot be read, a value that cannot be described) hands it on: time limits and requests to stop are made of these.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any

__all__ = ["is_from_outside", "pass_on", "quiet"]

_VARIABLE_ARGUMENTS = 0x04  # inspect.CO_VARARGS, without that import
# What code written in C raises without arguments, too.
_BARE = (StopIteration, StopAsyncIteration, MemoryError)


def pass_on(error: BaseException) -> None:
    """Raise an exception again that comes from outside; do nothing with any other.

    :param error: What was caught.
    :raises BaseException: It comes from outside.
    """
    if is_from_outside(error):
        raise error


def quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function answer ``None`` where it fails, and raise only what comes from outside.

    :param function: What tries to find something out for which the base has no need.
    """

    @functools.wraps(function)
    def called(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            pass_on(error)
            return None

    return called


def is_from_outside(error: BaseException) -> bool:
    """Tell whether an exception comes out of a signal's handler, or was set by another thread.

    :param error: What was caught.
    """
    traceback = error.__traceback__
    if traceback is None:
        return False
    handlers = _codes_of_handlers()
    while True:
        if traceback.tb_frame.f_code in handlers or _is_handler(traceback.tb_frame):
            return True
        if traceback.tb_next is None:
            return _was_set(error, traceback)
        traceback = traceback.tb_next


def _codes_of_handlers() -> set[CodeType]:
    signal = sys.modules.get("signal")
    if signal is None:
        return set()
    codes = set()
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        while isinstance(handler, functools.partial):
            handler = handler.func
        code = getattr(handler, "__code__", getattr(type(handler).__call__, "__code__", None))
        if code is not None:
            codes.add(code)
    return codes


def _is_handler(frame: FrameType) -> bool:
    """Tell whether a function was called as handlers are: with a number and the frame that was interrupted.

    The handler of a signal may be another one by the time that its exception is caught.
    """
    code, caller = frame.f_code, frame.f_back
    if caller is None:
        return False
    places = code.co_varnames[: code.co_argcount]
    further = code.co_flags & _VARIABLE_ARGUMENTS
    if len(places) < 2 and not further:
        return False
    values = frame.f_locals
    handed: list[Any] = [values.get(name) for name in places]
    if further:
        handed += values.get(code.co_varnames[code.co_argcount + code.co_kwonlyargcount]) or ()
    return any(issubclass(type(number), int) and place is caller for number, place in itertools.pairwise(handed))


def _was_set(error: BaseException, innermost: TracebackType) -> bool:
    """Tell whether an exception is there without having been raised, as by ``PyThreadState_SetAsyncExc``.

    Such a one has no arguments, and came up in Python code where that raises nothing.
    """
    if error.args or isinstance(error, _BARE):
        return False
    import opcode

    instruction = innermost.tb_frame.f_code.co_code[innermost.tb_lasti]
    return opcode.opname[instruction] not in ("RAISE_VARARGS", "RERAISE")
