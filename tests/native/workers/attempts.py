"""Counts calls that mean no good and what they raise."""
# mypy: ignore-errors

import traceback
from collections import Counter

seen = Counter()
broken = []


def attempt(function, *arguments, **keywords):
    """Call; whatever is raised is fine, but for what tells of broken rules of the interpreter."""
    seen["calls"] += 1
    try:
        return function(*arguments, **keywords)
    except BaseException as error:
        seen[type(error).__name__] += 1
        if isinstance(error, SystemError) and ("exception set" in str(error) or "without setting" in str(error)):
            frames = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
            # The base's own specialisation goes on with exceptions set.
            if "dynamic_func" not in [*frames, *str(error).split()]:
                broken.append(f"{error}: {frames}")
        return None
