"""The fake driver tells the truth: recorded bytes equal values packed here, by hand, with `struct`."""

import ctypes
import json
import struct
from pathlib import Path
from typing import Any

import pytest

from tests.fake_driver.library import (
    CLUSTER_SCHEDULING,
    COOPERATIVE,
    PROGRAMMATIC_STREAM_SERIALIZATION,
    FakeLibrary,
    parse,
)
from tests.fake_driver.programs import TESTS, prepare, run_program

INVALID_VALUE, INVALID_IMAGE, NOT_FOUND = 1, 200, 500


@pytest.fixture(scope="module")
def folder(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(base_python, tmp_path_factory.mktemp("fake"))


@pytest.fixture(scope="module")
def answer(base_python: Path, folder: Path) -> dict[str, Any]:
    program = TESTS / "fake_driver" / "workers" / "launches.py"
    extra = {"FAKE_DRIVER_RECORD_FILE": str(folder / "records")}
    found = run_program(base_python, program, folder, folder / "cache", [str(folder / "cubin")], extra)
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def library(folder: Path) -> FakeLibrary:
    return FakeLibrary(folder / "libcuda.so.1")


def test_every_parameter_has_its_bytes(answer: dict[str, Any]) -> None:
    bfloat_one_and_a_half = b"\xc0\x3f"
    expected = [
        struct.pack("<Q", 0x7F0012345670),
        struct.pack("<b", 5),
        struct.pack("<h", -300),
        struct.pack("<i", 70000),
        struct.pack("<q", -(2**40)),
        struct.pack("<Q", 2**63 + 1),
        struct.pack("<e", 1.5),
        bfloat_one_and_a_half,
        struct.pack("<f", 1.1),
        struct.pack("<d", 1.1),
        b"\x01",
        bytes(8),
        bytes(8),
    ]
    assert [bytes.fromhex(value) for value in answer["records"][0]["parameters"]] == expected


def test_shape_and_stream(answer: dict[str, Any]) -> None:
    first, second, _ = answer["records"]
    assert (first["function"], first["grid"], first["block"]) == ("scalars", [3, 2, 1], [128, 1, 1])
    assert (first["stream"], first["device"], first["attributes"]) == (0x51AE, 0, [])
    assert (second["grid"], second["block"], second["cluster"]) == ([6, 2, 1], [256, 1, 1], [2, 1, 1])


def test_attributes(answer: dict[str, Any]) -> None:
    attributes = dict(answer["records"][1]["attributes"])
    assert attributes[COOPERATIVE] == attributes[PROGRAMMATIC_STREAM_SERIALIZATION] == "01000000"
    assert attributes[CLUSTER_SCHEDULING] == "01000000"


def test_empty_grid_launches_nothing(answer: dict[str, Any]) -> None:
    assert [record["function"] for record in answer["records"]] == ["scalars", "scalars", "described"]


def test_tensor_map_holds_what_the_encoder_was_given(answer: dict[str, Any]) -> None:
    parameters = [bytes.fromhex(value) for value in answer["records"][2]["parameters"]]
    tensor_map = parameters[0]
    assert len(tensor_map) == 128
    address, width, height = struct.unpack_from("<3Q", tensor_map)
    row_bytes = struct.unpack_from("<Q", tensor_map, 48)[0]
    box = struct.unpack_from("<2I", tensor_map, 80)
    assert (address, width, height, row_bytes, box) == (0x2000, 128, 64, 256, (32, 16))
    assert parameters[1:] == [
        *(struct.pack("<i", extent) for extent in (64, 128)),
        *(struct.pack("<q", stride) for stride in (128, 1)),
        struct.pack("<f", 2.0),
        bytes(8),
        bytes(8),
    ]


def test_calls_are_counted(answer: dict[str, Any]) -> None:
    assert answer["counts"] == {"cuModuleLoadData": 3, "cuLaunchKernelEx": 3, "cuCtxSetCurrent": 1}


def test_planted_failures_reach_the_caller(answer: dict[str, Any]) -> None:
    passed, failed, passed_again, host_pointer, grid = answer["errors"]
    assert passed is passed_again is None
    assert failed == ["RuntimeError", "Triton Error [CUDA]: invalid argument"]
    assert host_pointer[0] == "ValueError"
    assert "cpu tensor" in host_pointer[1]
    assert grid == failed


def test_recording_can_be_switched_off(answer: dict[str, Any]) -> None:
    assert answer["unrecorded"] == [1, 0]


def test_record_file_has_the_same_launches(answer: dict[str, Any], folder: Path) -> None:
    launches = parse((folder / "records").read_text())
    assert [[value.hex() for value in launch.parameters] for launch in launches[:3]] == [
        record["parameters"] for record in answer["records"]
    ]


def load(library: FakeLibrary, image: bytes) -> tuple[int, ctypes.c_void_p]:
    module = ctypes.c_void_p()
    cuda = ctypes.CDLL(str(library.path))
    return cuda.cuModuleLoadData(ctypes.byref(module), image), module


def test_a_cubin_is_accepted(answer: dict[str, Any], folder: Path, library: FakeLibrary) -> None:
    code, module = load(library, (folder / "cubin").read_bytes())
    assert code == 0
    function = ctypes.c_void_p()
    cuda = ctypes.CDLL(str(library.path))
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"scalars") == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"scalar") == NOT_FOUND
    offset, size = ctypes.c_size_t(), ctypes.c_size_t()
    assert cuda.cuFuncGetParamInfo(function, ctypes.c_size_t(2), ctypes.byref(offset), ctypes.byref(size)) == 0
    assert (offset.value, size.value) == (10, 2)


@pytest.mark.parametrize("image", [b"", b"not an ELF file" * 20, b"\x7fELF" + bytes(200)])
def test_other_images_are_refused(library: FakeLibrary, image: bytes) -> None:
    assert load(library, image)[0] == INVALID_IMAGE


def test_parameters_that_contradict_the_kernels_size_are_refused(
    answer: dict[str, Any], folder: Path, library: FakeLibrary
) -> None:
    image = bytearray((folder / "cubin").read_bytes())
    # The kernel's parameters make 72 bytes: attribute 0x19, format 3, says so in its own entry.
    entry = image.index(b"\x03\x19" + struct.pack("<H", 72))
    image[entry + 2] = 80
    assert load(library, bytes(image))[0] == INVALID_IMAGE


def test_launches_survive_json(answer: dict[str, Any]) -> None:
    assert parse("\n".join(json.dumps(record) for record in answer["records"]))[0].grid == (3, 2, 1)
