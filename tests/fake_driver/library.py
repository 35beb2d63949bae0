"""Reads and steers a loaded fake driver library: recorded launches, call counts, planted failures."""

import ctypes
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Numbers of CUlaunchAttributeID in cuda.h.
COOPERATIVE = 2
CLUSTER_DIMENSION = 4
CLUSTER_SCHEDULING = 5
PROGRAMMATIC_STREAM_SERIALIZATION = 6


@dataclass(frozen=True)
class Launch:
    """One recorded launch.

    :param function: name of the kernel in its binary
    :param device: ordinal of the device whose context the launching thread had
    :param grid: blocks in x, y, z (for a cluster launch already multiplied by the cluster, as the driver sees it)
    :param block: threads in x, y, z
    :param shared: bytes of dynamic shared memory
    :param stream: handle of the stream
    :param attributes: number and bytes of each launch attribute, in the order given
    :param parameters: bytes of each kernel parameter, as many as the kernel's binary declares
    """

    function: str
    device: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    stream: int
    attributes: tuple[tuple[int, bytes], ...]
    parameters: tuple[bytes, ...]

    @property
    def cluster(self) -> tuple[int, ...] | None:
        """Cluster dimensions, or None for a launch without clusters."""
        for number, value in self.attributes:
            if number == CLUSTER_DIMENSION:
                return tuple(int.from_bytes(value[i : i + 4], "little") for i in (0, 4, 8))
        return None

    def has(self, attribute: int) -> bool:
        """Tell whether the launch carried an attribute with a value other than zero.

        :param attribute: number of the attribute, such as ``COOPERATIVE``
        :returns: True if so
        """
        return any(number == attribute and any(value) for number, value in self.attributes)


def parse(lines: str) -> list[Launch]:
    """Turn the library's own text into launches.

    :param lines: one launch a line, in JSON; also the content of a ``FAKE_DRIVER_RECORD_FILE``
    :returns: the launches in order
    """
    return [_launch(json.loads(line)) for line in lines.splitlines()]


def _launch(record: dict[str, Any]) -> Launch:
    return Launch(
        function=record["function"],
        device=record["device"],
        grid=tuple(record["grid"]),
        block=tuple(record["block"]),
        shared=record["shared"],
        stream=record["stream"],
        attributes=tuple((number, bytes.fromhex(value)) for number, value in record["attributes"]),
        parameters=tuple(bytes.fromhex(value) for value in record["parameters"]),
    )


class FakeLibrary:
    """A fake driver loaded into this process.

    Loading it makes the C loader answer later requests for its soname with it, so nothing needs LD_LIBRARY_PATH.
    """

    def __init__(self, path: Path) -> None:
        """Load the library.

        :param path: what :func:`tests.fake_driver.builder.build` returned
        """
        self.path = path
        self._library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        self._library.fake_driver_records.restype = ctypes.c_void_p
        self._library.fake_driver_release.argtypes = [ctypes.c_void_p]
        self._library.fake_driver_launch_count.restype = ctypes.c_uint64
        self._library.fake_driver_call_count.restype = ctypes.c_uint64
        self._library.fake_driver_fail.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_long, ctypes.c_long]

    def launches(self, clear: bool = True) -> list[Launch]:
        """Fetch what was recorded.

        :param clear: whether to forget it afterwards
        :returns: the launches since the start or the last clearing, in order
        """
        address = self._library.fake_driver_records(int(clear))
        try:
            return parse(ctypes.string_at(address).decode())
        finally:
            self._library.fake_driver_release(address)

    def set_recording(self, enabled: bool) -> bool:
        """Switch recording on or off; launches are counted either way. Benchmarks switch it off.

        :param enabled: the new state
        :returns: the state before
        """
        return bool(self._library.fake_driver_set_recording(int(enabled)))

    @property
    def launch_count(self) -> int:
        """Launches of this process since the library was loaded."""
        return int(self._library.fake_driver_launch_count())

    def call_count(self, function: str) -> int:
        """Count the calls of a driver function.

        :param function: its name as in the vendor's documentation, such as ``cuModuleLoadData``
        :returns: calls since the library was loaded
        """
        return int(self._library.fake_driver_call_count(function.encode()))

    def fail(self, functions: Sequence[str], code: int, skip: int = 0, times: int = -1) -> None:
        """Make driver functions fail.

        :param functions: their names
        :param code: what they return
        :param skip: calls of each to let pass first
        :param times: how often each fails; -1 for ever
        """
        for function in functions:
            self._library.fake_driver_fail(function.encode(), code, skip, times)

    def clear_failures(self) -> None:
        """Let every driver function succeed again."""
        self._library.fake_driver_clear_failures()
