"""What must be as usual for the fast path of launches, and how it is watched.

What the base looks up in a launch is looked up by the extension as well, but for classes: CPython gives a class another number
whenever it or one of its bases changes, and that is one comparison for all their members.

Mirrors python/triton/runtime/jit.py: JITFunction.run, KernelInterface.__getitem__

Mirrors python/triton/knobs.py: env_base.__get__
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from triton.fork.launch.native import is_unpatched

__all__ = ["GuardedAttributes", "environment", "guards_ok", "is_plain", "versions_tell"]

#: Classes, and dictionary, name and value, one after the other; Ellipsis as the value stands for a name that must not be there.
GuardedAttributes = tuple[tuple[type, ...], tuple[Any, ...]]

# What the extension reads in the dictionary of a function.
_OF_FUNCTION = ("debug", "device_caches", "pre_run_hooks", "used_global_vals")


def versions_tell(version: Callable[[type], int]) -> bool:
    """Tell whether the numbers of classes do what is expected of them on this Python.

    :param version: Gives the number of a class.
    """

    class Parent:
        value = 0

    class Child(Parent):
        pass

    seen = [version(Child)]
    for owner in (Parent, Child, Parent):
        if version(Child) != seen[-1]:
            return False
        owner.value += 1
        seen.append(version(Child))
    return 0 not in seen and len(set(seen)) == len(seen)


def is_plain(class_: type, *names: str) -> bool:
    """Tell whether an object of a class has these attributes in its dictionary, or the class has simple values for them.

    :param class_: The class.
    :param names: Names of attributes.
    """
    ask: Any = class_.__getattribute__
    if ask is not object.__getattribute__:
        return False
    members = [vars(each)[name] for each in class_.__mro__ for name in names if name in vars(each)]
    return not any(hasattr(type(member), "__get__") for member in members)


def environment() -> tuple[GuardedAttributes, int, dict[str, Any], dict[str, Any]] | None:
    """Look at what all launches read.

    :returns: What to watch, from where on that counts again after a grid was called, the dictionary of the owner of the active
        driver and that of ``triton.knobs``. Lists of hooks must be empty. ``None`` where something unusual is on that counts before
        a call is looked up.
    """
    jit, knobs, drivers = map(importlib.import_module, ("triton.runtime.jit", "triton.knobs", "triton.runtime.driver"))
    driver, runtime, compilation = jit.driver, knobs.runtime, knobs.compilation
    config, chain = drivers.DriverConfig, knobs.HookChain
    usual_classes = (
        type(driver) is config
        and type(runtime) is knobs.runtime_knobs
        and type(compilation) is knobs.compilation_knobs
        and is_plain(config, "_active")
        and is_plain(type(runtime), "debug", "launch_enter_hook", "launch_exit_hook")
        and is_plain(type(compilation), "instrumentation_mode")
        and is_plain(chain, "calls")
    )
    usual_members = (
        jit.knobs is knobs
        and is_unpatched(jit.compute_cache_key, jit.get_full_name)
        and is_unpatched(config.active.fget, config.set_active)
        and is_unpatched(chain.__call__, chain.add)
        and runtime.debug is False
        and type(compilation.instrumentation_mode) is str
        and compilation.instrumentation_mode == ""
    )
    if not (usual_classes and usual_members):
        return None
    before = _names(vars(jit), "compute_cache_key", "driver", "knobs") + _names(vars(knobs), "compilation", "runtime")
    before += _names(vars(runtime), "debug") + _names(vars(compilation), "instrumentation_mode")
    after = _names(vars(jit), "knobs") + _names(vars(knobs), "runtime")
    after += _names(vars(runtime), "launch_enter_hook", "launch_exit_hook")
    for hook in (runtime.launch_enter_hook, runtime.launch_exit_hook):
        if type(hook) is chain and type(hook.calls) is list:
            after += _names(vars(hook), "calls")
        elif hook is not None:
            after += (vars(runtime), "a hook", hook)
    # What comes first must be so before a call is looked up; the rest is what the base reads after the grid was called.
    classes = (config, type(runtime), type(compilation), chain)
    return (classes, before + after), len(before) // 3, vars(driver), vars(knobs)


def _names(dictionary: dict[str, Any], *names: str) -> tuple[Any, ...]:
    """Watch names in a dictionary as they are, with Ellipsis for one that must not be there."""
    return sum(((dictionary, name, dictionary.get(name, ...)) for name in names), ())


def guards_ok(class_: Any) -> GuardedAttributes | None:
    """Look at a class of JIT functions.

    :returns: What to watch of it; ``None`` where it launches in a way of its own.
    """
    jit = importlib.import_module("triton.runtime.jit").JITFunction
    plain = issubclass(class_, jit) and class_.run is jit.run and is_unpatched(jit.run, jit.create_binder)
    return ((class_,), ()) if plain and is_plain(class_, *_OF_FUNCTION) else None
