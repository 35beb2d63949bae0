"""Two environments side by side: each gets the same generated launches, and what happened is compared."""

import contextlib
import json
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from hypothesis import HealthCheck, given, seed, settings

from .cases import Case
from .programs import TESTS, environment

Outcome = dict[str, Any]

#: For hypothesis: cases take long, and what failed is not kept for another day.
COMMON = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
WORKER = TESTS / "fake_driver" / "workers" / "differential.py"


class Side:
    """A process in one environment that runs cases; started again after a crash."""

    def __init__(
        self,
        python: Path,
        folder: Path,
        cache: Path,
        *,
        backend: str = "cuda",
        plant: str | None = None,
        extra: Mapping[str, str] | None = None,
        worker: Sequence[str | Path] = (WORKER,),
    ) -> None:
        """Describe the process; it starts with the first case.

        :param python: interpreter of the environment
        :param folder: where the fake library is
        :param cache: Triton's cache, of this side alone
        :param backend: ``cuda`` or ``hip``
        :param plant: what to break on purpose, one of the worker's names
        :param extra: more environment variables; ``FORK_EXTENSION`` names another build of the fork's extension
        :param worker: what the interpreter runs: a file, or ``-m`` and a module
        """
        self.command: list[str | Path] = [python, *worker, backend, *([plant] if plant else [])]
        self.backend = backend
        self.environment = environment(folder, cache, extra)
        self.messages = cache.parent / f"{cache.name}.stderr"
        self.process: subprocess.Popen[str] | None = None
        self.crashes = 0

    def send(self, case: Any) -> None:
        """Hand over a case; the answer comes with :meth:`receive`.

        :param case: what :func:`tests.fake_driver.cases.cases` generates
        """
        if self.process is None:
            with self.messages.open("a") as messages:
                self.process = subprocess.Popen(
                    self.command,
                    env=self.environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=messages,
                    text=True,
                )
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # of a process that has died; receive() says so
            self.process.stdin.write(json.dumps(case) + "\n")
            self.process.stdin.flush()

    def receive(self) -> list[Outcome]:
        """Wait for the answer to the case sent last.

        :returns: one outcome a call; a single one with the key ``crash`` where the process died
        """
        assert self.process is not None
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if line:
            answer: list[Outcome] = json.loads(line)
            return answer
        status = self.process.wait()
        self.close()
        self.crashes += 1
        return [{"crash": status}]

    def close(self) -> None:
        """End the process."""
        if self.process is None:
            return
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        self.process.wait()
        self.process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def differences(base: Sequence[Outcome], fork: Sequence[Outcome]) -> list[str]:
    """Compare what happened on two sides.

    Errors agree when their types do. Where the base itself dies there is nothing to hold the fork to, nor where it loses an error:
    its launcher for HIP calls the exit hook of a launch that failed with the exception set, and now and then that is gone then.

    :param base: outcomes of the base
    :param fork: outcomes of the fork
    :returns: a line for each call that differs; empty when they agree
    """
    if "crash" in base[0]:
        return []
    if len(base) != len(fork):
        return [f"base: {base[0]}; fork: {fork[0]}"]
    return [
        f"call {index}: base: {ours}; fork: {theirs}"
        for index, (ours, theirs) in enumerate(zip(map(_whole(base), base), map(_whole(fork), fork), strict=True))
        if _essence(ours) != _essence(theirs) and not _is_lost(ours, theirs)
    ]


def _whole(outcomes: Sequence[Outcome]) -> Callable[[Outcome], Outcome]:
    """Give what replaces an outcome that is said to be that of an earlier call."""
    return lambda outcome: outcomes[outcome["again"]] if "again" in outcome else outcome


def _essence(outcome: Outcome) -> Any:
    return outcome.get("error", outcome)


def _is_lost(ours: Outcome, theirs: Outcome) -> bool:
    """Tell whether the base lost an error: it launched nothing, called the exit hook and says nothing of it."""
    hooks = [asked[0] for asked in ours.get("asked", [])]
    return ours.get("launches") == [] and "exit" in hooks and theirs.get("error") == "RuntimeError"


def compare_many(base: Side, fork: Side, strategy: Any, chosen: settings, start: int | None = None) -> Counter[str]:
    """Run generated cases on both sides.

    :param base: the side that is right by definition
    :param fork: the side under test
    :param strategy: where cases come from
    :param chosen: how many, and how hypothesis goes about it
    :param start: where random choices start; None where ``chosen`` says it
    :returns: how many calls there were, and how many of which outcome on the base
    :raises AssertionError: when the sides differ, for a case made short
    """
    seen: Counter[str] = Counter()

    @given(strategy)
    def run(case: Case) -> None:
        for outcome in compare(base, fork, case):
            seen.update(outcome.keys() & {"launches", "error", "crash", "again"})
            seen["calls"] += 1

    decorated = settings(chosen)(run)
    (decorated if start is None else seed(start)(decorated))()
    return seen


def compare(base: Side, fork: Side, case: Case) -> list[Outcome]:
    """Run a case on both sides at once.

    :param base: the side that is right by definition
    :param fork: the side under test
    :param case: what to run
    :returns: the outcomes of the base, for counting
    :raises AssertionError: when the sides differ; names every call that does
    """
    base.send(case)
    fork.send(case)
    ours, theirs = base.receive(), fork.receive()
    found = differences(ours, theirs)
    if found:
        raise AssertionError("\n".join(found))
    return ours
