"""Guesses of what a parameter of a kernel may be, the likeliest first.

Runs inside the interpreters under comparison.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from tests.thirdparty.signatures import Constant, Word
from tests.thirdparty.usage import Parameter, Usage

__all__ = ["guesses"]

_FLOATS = re.compile(
    r"(?i)^(?:.*_)?(?:eps|epsilon|scale|alpha|beta|gamma|lr|p|prob|dropout|dropout_p|momentum|decay|wd|softcap|cap|scaling|value|"
    r"temperature|slope|threshold|limit|min_val|max_val|weight_decay|bias_correction\d*|beta1|beta2|theta|base|factor|rate|"
    r"label_smoothing|lambda|tau|sm_scale|qk_scale|sf|lower_bound|upper_bound|fill_value|std|mean|inf|ratio)$"
)
_POINTER_NAMES = re.compile(
    r"(?i)(?:ptrs?|_ptr\w*|^p_\w+|pointer|_out|^out\w*|^output\w*|^input\w*|desc)$|^[QVOXYWAP]$|^(?:D[QKVOXWH]\w*|d[qkvoxwh]\w*)$"
)
_INTEGER_DATA = re.compile(
    r"(?i)(?:idx|index|indices|ids?\b|offsets?|seqlens?|cu_|lens?\b|lengths?|table|slot|mapping|labels?|targets?|positions?|"
    r"counts?|perm|order|segments?|token_to|routing|lut|page|block_tables?|expert|groups?_list|chunk_i|start)"
)
_MASKS = re.compile(r"(?i)mask")
_TYPES = re.compile(r"(?i)d?type|_ty$|_dt$|precision_type")
_TRUTHS = re.compile(
    r"^(?:IS|USE|HAS|STORE|OUTPUT|LOAD|EVEN|DO|ENABLE|NEED|RETURN|WITH|ADD|APPLY|SAVE|RECOMPUTE|NORM|FUSE|ALLOW|REVERSE|TRANS|"
    r"HEAD_FIRST|CAUSAL|BIAS|MASK|is|use|has|do|enable|need|return|with|apply|store|causal|reverse|save|even|add|even)(?:_|$)"
)
_FEW = re.compile(
    r"(?i)^(?:num_?|n_?|NUM_|N_)(?!cols?|rows?|elements?|tokens?|hidden|dims?)|^(?:G|H|HQ|HV|HK|HKV|NH|NT|NC|NS|NK|NV|NG|TOPK|K_ITER|GROUP\w*|SPLIT\w*|kv_group\w*|"
    r".*(?:stages|warps|groups?|heads?|iters?|splits?|steps?|ratio|unroll\w*|topk|experts?))$"
)
_WORDS = re.compile(
    r"(?i)precision|allow_tf32|activation|act|mode|algo|format|reduction|order|layout|kind|name|op$|type"
)
_PRECISIONS = re.compile(r"(?i)precision")

_FLOAT_POINTERS = ["*fp32", "*fp16", "*bf16"]
_INTEGER_POINTERS = ["*i32", "*i64"]
_OTHER_POINTERS = ["*u8", "*i8", "*i1", "*fp8e4nv", "*i64", "*u32", "*u64", "*i16"]
_EXTENTS = [32, 16, 64, 128, 1, 2, 4, 8, 256]
_NUMBERS = [4, 2, 1, 8, 0, 16, 32, 64, 3]


def guesses(parameter: Parameter, usage: Usage, floating: str = "*fp32") -> list[Word]:
    """Guess a parameter.

    :param parameter: The parameter.
    :param usage: The kernel that it belongs to.
    :param floating: The pointers' element type to begin with.
    :returns: Types and constants to try, without repetition.
    """
    words = _constants(parameter) if parameter.constant else _values(parameter, floating)
    return list(dict.fromkeys([*words]))


def _constants(parameter: Parameter) -> list[Word]:
    name = parameter.name
    values: list[Any] = list(parameter.compared)
    truths, types = (
        [False, True],
        [{"dtype": kind} for kind in ("fp32", "fp16", "bf16", "int32", "int64", "fp8e4nv", "int8")],
    )
    extents = _NUMBERS + _EXTENTS if _FEW.search(name) and not parameter.shape else _EXTENTS
    default = _default(parameter)
    numbers = [value for value in values if not isinstance(value, str)]
    if any(isinstance(value, str) for value in values):
        words = [value for value in values if isinstance(value, str)]
        order: list[Any] = [*words, None, *truths, *extents]
    elif parameter.dtype or _TYPES.search(name):
        order = [*types, None, *truths, "fp32", *extents]
    elif _PRECISIONS.search(name):
        order = ["ieee", "tf32", 0, 1, *truths]
    elif (parameter.truth and not parameter.shape) or _TRUTHS.search(name):
        order = [*truths, None, *numbers, *extents]
    elif _FLOATS.search(name) and not parameter.shape:
        order = [0.5, 1.0, *extents, None, *truths]
    elif numbers and not parameter.shape:
        order = [*numbers, *extents, *truths, None]
    else:
        order = [*extents, *_NUMBERS, *truths, None, 0.5, *types[:3], "", (32, 32), (1,)]
    if default is not None and default not in ("", 0):
        order = [default, *order]
    words_ = [Constant(list(value) if isinstance(value, tuple) else value) for value in order]
    return [*words_, Constant(None)] if not parameter.optional else [*words_[:1], Constant(None), *words_[1:]]


def _default(parameter: Parameter) -> Any:
    try:
        value = ast.literal_eval(parameter.default) if parameter.default else None
    except ValueError:
        return None
    return value if isinstance(value, (bool, int, float, str)) else None


def _values(parameter: Parameter, floating: str) -> list[Word]:
    name = parameter.name
    floats, integers = [floating, *[p for p in _FLOAT_POINTERS if p != floating]], _INTEGER_POINTERS
    if parameter.stored or _INTEGER_DATA.search(name):
        pointers = [*integers, *floats, *_OTHER_POINTERS]
    elif _MASKS.search(name):
        pointers = ["*i1", *integers, *floats, *_OTHER_POINTERS]
    else:
        pointers = [floats[0], integers[0], *floats[1:], *_OTHER_POINTERS[:3], integers[1], *_OTHER_POINTERS[3:]]
    scalars: list[Word] = ["fp32", "i32", "i64"] if _FLOATS.search(name) else ["i32", "fp32", "i64"]
    rest: list[Word] = [Constant(None), Constant(1), Constant(32), "(i32,i32)", "(*fp32,*fp32)", Constant(False)]
    descriptors: list[Word] = ["tensordesc<fp16[32, 32]>", "tensordesc<fp16[64, 64]>"]
    if "desc" in name.lower():
        return [*pointers[:1], *descriptors, *pointers[1:3], *scalars]
    named = _POINTER_NAMES.search(name) and "stride" not in name.lower() and not parameter.shape
    if parameter.pointer or named:
        return [*pointers[:4], *scalars[:2], *pointers[4:], *rest[:1], *descriptors, *rest[1:]]
    if parameter.optional:
        return [pointers[0], Constant(None), *scalars[:2], *pointers[1:], *rest]
    return [
        *scalars[:2],
        pointers[0],
        Constant(None),
        Constant(32),
        *pointers[1:4],
        scalars[2],
        *rest,
        *pointers[4:],
        *descriptors,
    ]
