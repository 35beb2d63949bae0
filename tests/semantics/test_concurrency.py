"""Threads that launch at once and children of fork and spawn all get their launches through."""

from tests.fake_driver.programs import Both

THREADS, ROUNDS = 8, 25


def bytes_of(number: int) -> str:
    return number.to_bytes(4, "little").hex()


def test_threads(run_both: Both) -> None:
    values = {thread: [1000 * thread + turn + 2 for turn in range(ROUNDS)] for thread in range(THREADS)}
    shared = [["shared", 1, bytes_of(value), 1] for numbers in values.values() for value in numbers]
    own = [["own", thread + 1, bytes_of(value), 1] for thread, numbers in values.items() for value in numbers]
    base, fork = run_both("threads.py")
    assert base == fork == {"errors": [], "launches": sorted(shared + own)}


def test_fork_and_spawn(run_both: Both) -> None:
    base, fork = run_both("processes.py")
    expected = {"statuses": [0, 0, 0, 0], "values": [101, 102, 103, 104, 105], "functions": ["kernel"] * 5}
    assert base == fork == expected
