"""Launches tensors while the backend's way to specialise them is another one; prints JSON. Argument: cuda or hip."""
# mypy: ignore-errors

import json
import sys
import types

import triton.language as tl
from triton.backends.compiler import BaseBackend

import triton
from tests.fake_driver.amd import install as install_hip
from tests.fake_driver.nvidia import install as install_cuda
from tests.fake_driver.tensors import tensor


@triton.jit
def kernel(pointer):
    tl.store(pointer, 1)


def specialise(asked, value, **options):
    asked.append(type(value).__name__)
    return "D" if value.data_ptr() % 128 == 0 and options.get("align") else ""


def launches(times=2):
    addresses = [address for address in (0x1000, 0x1010) for _ in range(times)]
    return [str(kernel[(1,)](tensor(address)).src.attrs) for address in (*addresses, *addresses)]


def patched(class_):
    """Launch before, while and after a class has another function to specialise tensors, which the base then asks."""
    asked, seen = [], launches()
    own = vars(class_).get("get_tensor_specialization")
    class_.get_tensor_specialization = staticmethod(lambda value, **options: specialise(asked, value, **options))
    seen += launches()
    if own is None:
        del class_.get_tensor_specialization
    else:
        class_.get_tensor_specialization = own
    return [seen + launches(), asked]


def main():
    if sys.argv[1] == "hip":
        # The backend looks for the class of tensors there.
        sys.modules["torch"] = types.ModuleType("torch")
        sys.modules["torch"].Tensor = type("Tensor", (), {})
        install_hip()
    else:
        install_cuda()
    kernel[(1,)](tensor(0x1000))
    backend = type(kernel.device_caches[0][3])
    seen = [patched(backend), patched(BaseBackend)]
    native = backend.supports_native_tensor_specialization
    backend.supports_native_tensor_specialization = False
    seen += [patched(backend), patched(BaseBackend)]
    backend.supports_native_tensor_specialization = native
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
