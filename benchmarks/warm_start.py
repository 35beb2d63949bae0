"""Start of a process to its first launch and to the first launch of the tenth kernel, everything being in the cache."""

from benchmarks.support.steps import Steps, note_entry

note_entry()

KEEPS_CACHE = True
HEADLINE = "to the first launch"


def main() -> None:
    """Measure one start and print the quantities."""
    steps = Steps()
    from benchmarks.support.starting import start

    start(steps)
    steps.print()


if __name__ == "__main__":
    main()
