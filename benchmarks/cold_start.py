"""Start of a process to its first launch and to the first launch of the tenth kernel, nothing being in the cache."""

from benchmarks.support.steps import Steps, note_entry

note_entry()

HEADLINE = "to the tenth kernel's launch"


def main() -> None:
    """Measure one start and print the quantities."""
    steps = Steps()
    from benchmarks.support.ten_kernels import launches

    steps.done("import")
    # After the import of what a program with kernels imports: the fork puts off some of what these import.
    from benchmarks.support.device import Tensor, install
    from benchmarks.support.stages import Stages

    stages = Stages()
    install()
    in_driver = steps.done("driver") - stages.milliseconds("C compiler")
    steps.results["driver"] = [in_driver, "ms"]
    from triton.runtime.cache import triton_key

    triton_key()
    steps.done("installation key")
    named = sum(float(str(value)) for value, _ in steps.results.values())
    for number, (kernel, arguments, constants) in enumerate(launches(Tensor), 1):
        kernel[(1,)](*arguments, **constants)
        if number == 1:
            steps.total("to the first launch")
    total = steps.total("to the tenth kernel's launch")
    for stage in stages.names:
        steps.results[stage] = [stages.milliseconds(stage), "ms"]
        named += stages.milliseconds(stage)
    steps.results["other"] = [total - named, "ms"]
    steps.print()


if __name__ == "__main__":
    main()
