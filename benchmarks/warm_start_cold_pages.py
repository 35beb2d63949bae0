"""Start of a process to its first launch with a cold page cache: all is in Triton's cache, but no file of it is in memory."""

from benchmarks.support.steps import Steps, note_entry

note_entry()

KEEPS_CACHE = True
DROPS_PAGES = True
HEADLINE = "to the first launch"


def main() -> None:
    """Measure one start and print the quantities."""
    steps = Steps()
    from benchmarks.support.starting import start

    start(steps)
    steps.print()


if __name__ == "__main__":
    main()
