"""Guesses of what a parameter of a kernel may be, the likeliest first.

Runs inside the interpreters under comparison.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from tests.thirdparty.signatures import Constant, Word
from tests.thirdparty.usage import Parameter

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
    r"(?i)^(?:num_?|n_?)(?!cols?|rows?|elements?|tokens?|hidden|dims?)|^(?:G|H|HQ|HV|HK|HKV|NH|NT|NC|NS|NK|NV|NG|K_ITER|GROUP\w*|"
    r"SPLIT\w*|kv_group\w*|.*(?:stages|warps|groups?|heads?|iters?|splits?|steps?|ratio|unroll\w*|topk|experts?))$"
)
_PRECISIONS = re.compile(r"(?i)precision")

_FLOAT_POINTERS = ["*fp32", "*fp16", "*bf16"]
_INTEGER_POINTERS = ["*i32", "*i64"]
_OTHER_POINTERS = ["*u8", "*i8", "*i1", "*fp8e4nv", "*i64", "*u32", "*u64", "*i16"]
_EXTENTS = [32, 16, 64, 128, 1, 2, 4, 8, 256]
_NUMBERS = [4, 2, 1, 8, 0, 16, 32, 64, 3]


def guesses(parameter: Parameter, floating: str = "*fp32") -> list[Word]:
    """Guess a parameter.

    :param parameter: The parameter.
    :param floating: The pointers' element type to begin with.
    :returns: Types and constants to try, without repetition.
    """
    words = _constants(parameter) if parameter.constant else _values(parameter, floating)
    return list(dict.fromkeys([*words]))


def _constants(parameter: Parameter) -> list[Word]:
    values = [*([] if (default := _default(parameter)) in (None, "", 0) else [default]), *_order(parameter)]
    words = [Constant(list(value) if isinstance(value, tuple) else value) for value in values]
    return [*words[:1], Constant(None), *words[1:]] if parameter.optional else [*words, Constant(None)]


def _order(parameter: Parameter) -> list[Any]:
    """Sort what a constant may be by what its name and its uses say."""
    name, truths = parameter.name, [False, True]
    types = [{"dtype": kind} for kind in ("fp32", "fp16", "bf16", "int32", "int64", "fp8e4nv", "int8")]
    extents = _NUMBERS + _EXTENTS if _FEW.search(name) and not parameter.shape else _EXTENTS
    words = [value for value in parameter.compared if isinstance(value, str)]
    numbers = [value for value in parameter.compared if not isinstance(value, str)]
    if words:
        return [*words, None, *truths, *extents]
    if parameter.dtype or _TYPES.search(name):
        return [*types, None, *truths, "fp32", *extents]
    if _PRECISIONS.search(name):
        return ["ieee", "tf32", 0, 1, *truths]
    if (parameter.truth and not parameter.shape) or _TRUTHS.search(name):
        return [*truths, None, *numbers, *extents]
    if _FLOATS.search(name) and not parameter.shape:
        return [0.5, 1.0, *extents, None, *truths]
    if numbers and not parameter.shape:
        return [*numbers, *extents, *truths, None]
    return [*extents, *_NUMBERS, *truths, None, 0.5, *types[:3], "", (32, 32), (1,)]


def _default(parameter: Parameter) -> Any:
    try:
        value = ast.literal_eval(parameter.default) if parameter.default else None
    except ValueError:
        return None
    return value if isinstance(value, (bool, int, float, str)) else None


def _values(parameter: Parameter, floating: str) -> list[Word]:
    name, pointers = parameter.name, _pointers(parameter, floating)
    scalars: list[Word] = ["fp32", "i32", "i64"] if _FLOATS.search(name) else ["i32", "fp32", "i64"]
    none = Constant(None)
    rest: list[Word] = [Constant(1), Constant(32), "(i32,i32)", "(*fp32,*fp32)", Constant(False)]
    descriptors: list[Word] = ["tensordesc<fp16[32, 32]>", "tensordesc<fp16[64, 64]>"]
    if "desc" in name.lower():
        return [*pointers[:1], *descriptors, *pointers[1:3], *scalars]
    named = _POINTER_NAMES.search(name) and "stride" not in name.lower() and not parameter.shape
    if parameter.pointer or named:
        return [*pointers[:4], *scalars[:2], *pointers[4:], none, *descriptors, *rest]
    if parameter.optional:
        return [pointers[0], none, *scalars[:2], *pointers[1:], *rest]
    first = [*scalars[:2], pointers[0], none, Constant(32), *pointers[1:4], scalars[2]]
    return [*first, *rest, *pointers[4:], *descriptors]


def _pointers(parameter: Parameter, floating: str) -> list[Word]:
    floats, integers = [floating, *[p for p in _FLOAT_POINTERS if p != floating]], _INTEGER_POINTERS
    if parameter.stored or _INTEGER_DATA.search(parameter.name):
        return [*integers, *floats, *_OTHER_POINTERS]
    if _MASKS.search(parameter.name):
        return ["*i1", *integers, *floats, *_OTHER_POINTERS]
    return [floats[0], integers[0], *floats[1:], *_OTHER_POINTERS[:3], integers[1], *_OTHER_POINTERS[3:]]
