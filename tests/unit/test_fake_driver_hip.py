"""The fake HIP driver tells the truth."""

import ctypes
import struct
from pathlib import Path
from typing import Any

import pytest

from tests.fake_driver.library import COOPERATIVE
from tests.fake_driver.programs import TESTS, prepare, run_program

INVALID_IMAGE = 200


@pytest.fixture(scope="module")
def folder(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(base_python, tmp_path_factory.mktemp("fake"))


@pytest.fixture(scope="module")
def answer(base_python: Path, folder: Path) -> dict[str, Any]:
    program = TESTS / "fake_driver" / "workers" / "hip_launches.py"
    found = run_program(base_python, program, folder, folder / "cache", [str(folder / "hsaco")])
    assert isinstance(found, dict)
    return found


def test_every_parameter_has_its_bytes(answer: dict[str, Any]) -> None:
    expected = [
        struct.pack("<Q", 4096),
        struct.pack("<h", -2),
        struct.pack("<i", 70000),
        struct.pack("<e", 1.5),
        struct.pack("<d", 1.1),
        bytes(8),
        bytes(8),
    ]
    assert [[bytes.fromhex(value) for value in values] for values in answer["parameters"]] == [expected] * 3


def test_shapes_and_attributes(answer: dict[str, Any]) -> None:
    assert answer["target"] == ["hip", "gfx942", 64]
    assert answer["shapes"] == [[[3, 2, 1], [threads, 1, 1], 0x51AE] for threads in (256, 512, 256)]
    assert answer["attributes"] == [[], [[COOPERATIVE, "01000000"]], []]
    assert answer["calls"] == 2


def test_memory_of_the_host_is_refused(answer: dict[str, Any]) -> None:
    assert answer["error"][0] == "ValueError"
    assert "cpu tensor" in answer["error"][1]


@pytest.mark.parametrize("damage", ["none", "metadata", "kind"])
def test_only_an_hsaco_loads(answer: dict[str, Any], folder: Path, damage: str) -> None:
    image = bytearray((folder / "hsaco").read_bytes())
    if damage == "metadata":
        image[image.index(b"\xa5.size\x08") + 6] = 0  # the first parameter has no bytes now
    elif damage == "kind":
        image[18:20] = struct.pack("<H", 62)  # a program for the host
    hip = ctypes.CDLL(str(folder / "libamdhip64.so"))
    module = ctypes.c_void_p()
    code = hip.hipModuleLoadDataEx(ctypes.byref(module), bytes(image), 0, None, None)
    assert code == (0 if damage == "none" else INVALID_IMAGE)
