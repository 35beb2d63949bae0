"""What a start to the first launch does: files opened, bytes read, processes started, with nothing and with all in the cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HEADLINE = "files opened, warm"
MOST_PAIRS = 1
COUNTED = Path(__file__).resolve().parent / "support" / "counted_start.py"
UNITS = {
    "files opened": "files",
    "bytes read": "bytes",
    "processes started": "processes",
    "modules imported": "modules",
}


def main() -> None:
    """Start three times, the first time for what is remembered of the installation, and print the quantities of the others."""
    folder = Path(os.environ["BENCH_FOLDER"])
    count(folder / "other")
    results: dict[str, list[object]] = {}
    cold, warm = count(folder / "cache"), count(folder / "cache")
    for state, counts in (("warm", warm), ("cold", cold)):
        results.update({f"{name}, {state}": [counts[name], unit] for name, unit in UNITS.items()})
    print(json.dumps(results))


def count(cache: Path) -> dict[str, int]:
    """Start once.

    :param cache: The kernel cache.
    :returns: Name -> count.
    """
    # Written bytecode would make the first start different from any later one.
    variables = {**os.environ, "TRITON_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, str(COUNTED)], env=variables, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=True
    )
    counts: dict[str, int] = json.loads(done.stdout)
    return counts


if __name__ == "__main__":
    main()
