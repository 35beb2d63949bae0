"""Counts the launches that the fast path leaves to the base."""
# mypy: ignore-errors

from triton.runtime.jit import JITFunction


def watch_launches(note):
    """Have a function told of each JIT function that is launched, and whether the base has to launch it."""
    from triton.fork.launch import dispatch

    if dispatch.launch is None:
        return
    launch = dispatch.prepare()

    def watched(function, *arguments):
        result = launch(function, *arguments)
        if isinstance(function, JITFunction):
            note(function, result is None)
        return result

    dispatch.launch = watched
