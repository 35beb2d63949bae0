"""Turn a row of a table into what ``triton.compile`` takes.

Runs inside the interpreters under comparison.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fork.equivalence.cases import Case

__all__ = ["Variant", "gpu_target", "variants"]


@dataclass(frozen=True)
class Variant:
    """One way to compile a case.

    :param label: Tells the variants of an autotuned kernel apart; empty otherwise.
    :param source: What ``triton.compile`` takes.
    :param options: Options of the backend.
    """

    label: str
    source: Any
    options: dict[str, Any]


def gpu_target(target: str) -> Any:
    """Make Triton's target of ``cuda:90`` or ``hip:gfx942``.

    :param target: A target as in :attr:`Case.targets`.
    :raises ValueError: The target is of neither form.
    """
    make = importlib.import_module("triton.backends.compiler").GPUTarget
    backend, _, arch = target.partition(":")
    if backend == "cuda" and arch.isdigit():
        return make("cuda", int(arch), 32)
    if backend == "hip" and arch.startswith("gfx"):
        return make("hip", arch, 32 if int(arch[3:-2]) >= 10 else 64)
    raise ValueError(f"'{target}' is neither cuda:<capability> nor hip:<architecture>")


def variants(case: Case) -> Iterator[Variant]:
    """Unfold a case: one variant for each configuration of an autotuner, heuristics evaluated, decorators peeled off.

    :param case: A row of a table.
    :returns: At least one variant.
    """
    case = case.resolved()
    yield from _unfold(case, case.function, dict(case.constants), dict(case.options), "")


def _unfold(
    case: Case, function: Any, constants: dict[Any, Any], options: dict[str, Any], label: str
) -> Iterator[Variant]:
    autotuner = importlib.import_module("triton.runtime.autotuner")
    if isinstance(function, autotuner.Autotuner):
        for index, config in enumerate(function.configs):
            settings = {key: value for key, value in config.all_kwargs().items() if key not in config.kwargs}
            merged = {**constants, **config.kwargs}
            yield from _unfold(case, function.fn, merged, {**options, **settings}, f"{label}#{index}")
    elif isinstance(function, autotuner.Heuristics):
        known = {**case.examples, **constants}
        for name, compute in function.values.items():
            known[name] = constants[name] = compute(known)
        yield from _unfold(case, function.fn, constants, options, label)
    else:
        yield Variant(label, _source(case, function, constants), options)


def _source(case: Case, function: Any, constants: dict[Any, Any]) -> Any:
    """Join what the table says in the order of the function's parameters, as the launcher would."""
    names = function.arg_names
    unknown = {key for key in (*case.signature, *constants, *case.attributes) if isinstance(key, str)} - set(names)
    missing = [name for name in names if name not in case.signature and name not in constants]
    if unknown or missing:
        raise ValueError(f"'{case.name}': no such parameters: {sorted(unknown)}; parameters left open: {missing}")
    signature = {name: "constexpr" if name in constants else case.signature[name] for name in names}
    attributes = {(names.index(name),): [list(fact) for fact in facts] for name, facts in case.attributes.items()}
    if function.is_gluon():
        make = importlib.import_module("triton.experimental.gluon._runtime").GluonASTSource
    else:
        make = importlib.import_module("triton.compiler").ASTSource
    return make(fn=function, signature=signature, constexprs=constants, attrs=attributes)
