"""Generates launches: kernels with any signature, called with values that fit, values at limits and wrong ones.

A case is plain JSON: ``parameters`` (name, annotation, default), ``unspecialized`` and ``unaligned`` (names), ``body`` (what
the kernel does, one of the worker's), ``hooks`` (launch hooks that are on), ``rounds`` (how often all calls are done, one after
the other), and ``calls``, each with ``arguments``, ``keywords``, ``options``, ``grid``, ``callable_grid``. A value is a
pair of its kind and what it is made of: ``["int", "-5"]``, ``["float", <8 bytes as hexadecimal>]``,
``["tensor", [address, dtype, shape]]``, ``["tuple", [values]]``, ``["pair", [values]]`` (a named tuple),
``["descriptor", {...}]``, ``["plain", None]``, ``["odd", name]`` (a name of the worker's table of strange objects).
"""

import struct
from typing import Any

from hypothesis import strategies as st

from .values import (
    FITTING,
    anything,
    fitting_annotations,
    made_of,
    odd_annotations,
    sorts,
)

Case = dict[str, Any]

counts = st.sampled_from([0, 1, 1, 2, 2, 3, 4, 5, 8, 12]) | st.integers(0, 60)
extents = st.sampled_from([1, 1, 2, 3, 7, 0, 65535, 65536, 2**31 - 1, 2**31, -1])
usual_grids = made_of("tuple", st.lists(made_of("int", st.integers(1, 9).map(str)), min_size=1, max_size=3))
odd_grids = made_of("tuple", st.lists(made_of("int", extents.map(str)), min_size=1, max_size=3)) | st.sampled_from(
    [["tuple", []], ["plain", None], ["odd", "list"], ["tuple", [["float", struct.pack("<d", 1.0).hex()]]]]
)
OPTIONS: dict[str, dict[str, list[Any]]] = {
    "cuda": {
        "num_warps": [1, 2, 4, 8],
        "num_ctas": [1, 2, 4],
        "launch_pdl": [False, True],
        "launch_cooperative_grid": [False, True],
    },
    "hip": {"num_warps": [1, 2, 4, 8], "waves_per_eu": [0, 1], "launch_cooperative_grid": [False, True]},
}
ODD_OPTIONS: list[dict[str, Any]] = [{"num_warps": 3}, {"no_such_option": 1}, {"num_stages": "two"}, {"num_warps": 64}]


HOOKS = ["enter", "exit", "both", "failing enter", "failing exit"]


class Parameter:
    """A parameter of a generated kernel.

    :ivar name: its name
    :ivar annotation: source text, empty for none
    :ivar default: source text, empty for none
    :ivar sort: which values fit; keeps calls of one kernel to few signatures
    """

    def __init__(self, name: str, annotation: str, default: str, sort: str) -> None:
        self.name, self.annotation, self.default, self.sort = name, annotation, default, sort


@st.composite
def parameter_lists(draw: st.DrawFn) -> list[Parameter]:
    """Draw the parameters of one kernel."""
    kinds: list[tuple[str, str]] = []
    for _ in range(draw(counts)):
        annotation = draw(fitting_annotations)
        kinds.append((annotation, annotation or draw(sorts)))
    if kinds and draw(st.integers(0, 14)) == 0:
        kinds[draw(st.integers(0, len(kinds) - 1))] = (draw(odd_annotations), "integer")
    # Python allows no parameter without a default after one that has one.
    first_default = draw(st.integers(0, len(kinds)))
    return [
        Parameter(
            f"p{at}", annotation, draw(st.sampled_from(["5", "None", "2.5"])) if at >= first_default else "", sort
        )
        for at, (annotation, sort) in enumerate(kinds)
    ]


@st.composite
def calls(draw: st.DrawFn, parameters: list[Parameter], settings: dict[str, Any]) -> dict[str, Any]:
    """Draw one call of a kernel: as it should be, or with one thing wrong."""
    values = [draw(FITTING[parameter.sort]) for parameter in parameters]
    keyword_from = draw(st.sampled_from([len(parameters)] * 3 + [len(parameters) // 2]))
    keywords = {parameter.name: values[at] for at, parameter in enumerate(parameters) if at >= keyword_from}
    arguments = values[:keyword_from]
    grid = draw(usual_grids)
    fault = draw(st.sampled_from(["none"] * 10 + ["value"] * 6 + ["grid", "grid", "few", "many", "options"]))
    if fault == "value" and arguments:
        arguments[draw(st.integers(0, len(arguments) - 1))] = draw(anything)
    elif fault == "few" and arguments:
        arguments.pop()
    elif fault == "many":
        arguments.append(["int", "1"])
    elif fault == "options":
        settings = settings | draw(st.sampled_from(ODD_OPTIONS))
    elif fault == "grid":
        grid = draw(odd_grids)
    return {
        "arguments": arguments,
        "keywords": keywords,
        "options": settings,
        "grid": grid,
        "callable_grid": draw(st.booleans()),
    }


@st.composite
def cases(draw: st.DrawFn, backend: str = "cuda", rounds: int = 2) -> Case:
    """Draw a kernel and some calls of it.

    :param backend: ``cuda`` or ``hip``
    :param rounds: how often the calls are done; the fork launches natively what it has seen before
    """
    parameters = draw(parameter_lists())
    names = [parameter.name for parameter in parameters if parameter.annotation != "tl.constexpr"]
    some = st.lists(st.sampled_from(names), max_size=2, unique=True) if names else st.just([])
    allowed = {name: st.sampled_from(values) for name, values in OPTIONS[backend].items()}
    settings = draw(st.fixed_dictionaries({}, optional=allowed))
    return {
        "parameters": [[parameter.name, parameter.annotation, parameter.default] for parameter in parameters],
        "unspecialized": draw(some),
        "unaligned": draw(some),
        # Triton's compiler places clusters by the stores of a kernel and gives up where there is none.
        "body": "store" if settings.get("num_ctas", 1) > 1 else draw(st.sampled_from(["nothing"] * 6 + ["scratch"])),
        "hooks": draw(st.sampled_from(["none"] * 6 + HOOKS)),
        "rounds": rounds,
        "calls": draw(st.lists(calls(parameters, settings), min_size=2, max_size=6)),
    }


def simple_case(annotation: str, *arguments: list[str]) -> Case:
    """Make a case by hand: one parameter, one call for each argument.

    :param annotation: source text of the parameter's annotation
    :param arguments: values, in the form described above
    :returns: the case
    """
    call = {"keywords": {}, "options": {}, "grid": ["tuple", [["int", "1"]]], "callable_grid": False}
    return {
        "parameters": [["p0", annotation, ""]],
        "unspecialized": [],
        "unaligned": [],
        "body": "nothing",
        "hooks": "none",
        "rounds": 1,
        "calls": [{"arguments": [argument], **call} for argument in arguments],
    }


def float_value(number: float) -> list[str]:
    """Describe a floating point argument.

    :param number: the argument
    :returns: its description
    """
    return ["float", struct.pack("<d", number).hex()]
