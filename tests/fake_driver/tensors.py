"""Stand-ins for torch tensors: an address, an element type, a shape. No memory is behind the address."""

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class DtypeLike:
    """Element type by the name that torch gives it, such as ``float16``."""

    name: str

    def __str__(self) -> str:
        return f"torch.{self.name}"

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        bits = re.search(r"\d+", self.name)
        return int(bits.group()) // 8 if bits else 1

    @property
    def is_floating_point(self) -> bool:
        """Whether it is a floating point type."""
        return "float" in self.name


@functools.cache
def dtype_named(name: str) -> DtypeLike:
    """Give an element type, always the same object for a name, as torch does.

    :param name: torch's name
    :returns: the element type
    """
    return DtypeLike(name)


@dataclass
class TensorLike:
    """What Triton looks at in a tensor argument.

    :param address: what ``data_ptr()`` answers
    :param dtype: element type by torch's name
    :param shape: extents; contiguous unless ``strides`` says otherwise
    """

    address: int
    dtype: DtypeLike
    shape: Sequence[int] = (1,)
    strides: Sequence[int] | None = field(default=None)

    def data_ptr(self) -> int:
        """Answer the address, as torch does."""
        return self.address

    def stride(self, dimension: int | None = None) -> int | tuple[int, ...]:
        """Answer strides in elements, as torch does.

        :param dimension: one dimension, or None for all
        :returns: the stride, or all strides
        """
        strides = self.strides
        if strides is None:
            strides = [math.prod(self.shape[i + 1 :]) for i in range(len(self.shape))]
        return tuple(strides) if dimension is None else strides[dimension]

    def numel(self) -> int:
        """Answer the number of elements, as torch does."""
        return math.prod(self.shape)

    def element_size(self) -> int:
        """Answer the bytes of an element, as torch does."""
        return self.dtype.itemsize


def tensor(address: int, dtype: str = "float32", shape: Sequence[int] = (1,)) -> TensorLike:
    """Make a tensor-like object.

    :param address: what ``data_ptr()`` answers
    :param dtype: element type by torch's name
    :param shape: extents
    :returns: the object
    """
    return TensorLike(address, dtype_named(dtype), shape)
