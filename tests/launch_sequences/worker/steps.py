"""Steps that change something: between launches, or at a moment of one."""
# mypy: ignore-errors

import copy
import gc
import os
import pickle
import sys
import weakref

import triton.language as tl
from triton.runtime import _allocation
from triton.runtime.driver import driver as drivers
from triton.tools.tensor_descriptor import TensorDescriptor

from triton import knobs

from . import caches, foreign
from .moments import ERRORS
from .patches import other_driver, wrapped

DEFAULTS = {"plain": 2, "mixed": 2}


class Steps:
    """Part of :class:`~.world.World`."""

    # Objects that launches are given.

    def make_tensor(self, name, spec):
        self.objects[name] = foreign.make_tensor(self, name, *spec)

    def make_constant(self, name, size):
        self.objects[name] = foreign.Constant(name, size)

    do_make_tensor, do_make_constant = make_tensor, make_constant

    def do_make_number(self, name, number):
        self.objects[name] = foreign.watched_number(self, name, number)

    def new_descriptor(self):
        base = foreign.make_tensor(self, "base", "silent", 4096, "float16")
        return TensorDescriptor(base, [64, 64], [64, 1], [16, 32])

    def do_make_descriptor(self, name, kind, address, dtype, block):
        base = foreign.make_tensor(self, f"base of {name}", kind, address, dtype)
        self.objects[name] = TensorDescriptor(base, [64, 64], [64, 1], list(block))

    def do_move(self, name, address):
        self.objects[name].address = address

    def do_retype(self, name, dtype):
        self.objects[name].element = dtype

    def do_reclass(self, name):
        value = self.objects[name]
        other = {
            foreign.Tensor: foreign.OtherTensor,
            foreign.OtherTensor: foreign.Tensor,
            foreign.Silent: foreign.OtherSilent,
            foreign.OtherSilent: foreign.Silent,
        }
        if type(value) in other:
            object.__setattr__(value, "__class__", other[type(value)])

    def do_method(self, name, address):
        """Give one tensor its own method, or take it away."""
        value = self.objects[name]
        if address is None:
            vars(value).pop("data_ptr", None)
        else:
            value.data_ptr = lambda: address

    def do_equal_dtype(self, name):
        """Give a tensor an element type that is equal to its own and another object."""
        value = self.objects[name]
        if type(value) in (foreign.Silent, foreign.OtherSilent):
            value.dtype = type(value.dtype)(value.dtype.name)

    def do_describe(self, name, what, setting):
        """Change a descriptor."""
        described = self.objects[name]
        if what == "address":
            described.base.address = setting
        elif what == "dtype":
            described.base.element = setting
        elif what == "base":
            described.base = foreign.make_tensor(self, "other base", "silent", setting, "float16")
        else:
            setattr(described, what, setting)

    def do_use(self, name):
        """Use a constant: that is no part of its equality."""
        self.objects[name].uses += 1

    def do_resize(self, name, size):
        self.objects[name].size = size

    def do_drop(self, name, kind):
        """Replace a tensor; tell whether the old one is gone."""
        gone = weakref.ref(self.objects.pop(name))
        self.make_tensor(name, [kind, 4096, "float32"])
        gc.collect()
        return gone() is None

    # What is looked at in a launch.

    def do_set_global(self, name, number):
        if number is None:
            vars(self.module).pop(name, None)
        else:
            setattr(self.module, name, tl.constexpr(number))

    def do_knob(self, name, setting):
        setattr(knobs.runtime, name, setting)

    def do_environment_debug(self, setting):
        if setting is None:
            os.environ.pop("TRITON_DEBUG", None)
        else:
            os.environ["TRITON_DEBUG"] = setting

    def do_instrumentation(self, setting):
        knobs.compilation.instrumentation_mode = setting

    def do_replace_knobs(self, hooked):
        knobs.runtime = knobs.runtime.copy()
        if hooked:
            knobs.runtime.launch_enter_hook = self.hook("enter of a copy")

    def do_add_hook(self, side):
        chain = getattr(knobs.runtime, f"launch_{side}_hook")
        if isinstance(chain, knobs.HookChain):
            chain.add(self.hook(f"{side} of a chain"))
        else:
            self.do_set_hook(side, True)

    def do_clear_hooks(self, side):
        setattr(knobs.runtime, f"launch_{side}_hook", knobs.HookChain())

    def do_set_hook(self, side, function):
        setattr(knobs.runtime, f"launch_{side}_hook", self.hook(f"{side} alone") if function else None)

    def do_compile_hook(self, name, answer):
        def called(**details):
            self.happened(name, details["repr"].partition("[")[0], details["is_manual_warmup"])
            return answer

        setattr(knobs.runtime, name, called if answer is not None else None)

    def do_device(self, number):
        self.fake.device = number

    def do_stream(self, device, handle):
        self.fake.streams[device] = handle

    def do_other_driver(self):
        drivers.set_active(other_driver(self.fake))

    def do_fail(self, functions):
        self.library.fail(functions, 1, times=1)

    def do_allocator(self, name):
        _allocation._allocator.set(self.allocator(name))

    def do_refusing_allocator(self):
        def refuse(size, alignment, stream):
            self.happened("refusing allocator", size)
            raise LookupError("no memory")

        _allocation._allocator.set(refuse)

    # The function.

    def do_pre_run_hook(self, kernel, on):
        hooks = self.function(kernel).pre_run_hooks
        if not on:
            return hooks.clear()
        return hooks.append(lambda *arguments, **options: self.happened("pre_run", len(arguments), sorted(options)))

    def do_function_debug(self, kernel, setting):
        self.function(kernel).debug = setting

    def do_replace_run(self, kernel):
        function = self.function(kernel)
        function.run = wrapped(self, "own run", function.run)

    def do_restore_run(self, kernel):
        vars(self.function(kernel)).pop("run", None)

    def do_caches(self, kernel, what):
        caches.change(self, self.function(kernel), what, self.fake.device)

    def do_forget_key(self, kernel):
        self.function(kernel).hash = None

    def do_forget_globals(self, kernel):
        self.function(kernel).used_global_vals = {}

    def do_update_source(self, kernel):
        function = self.function(kernel)
        before, _, after = function.src.rpartition("count")
        function._unsafe_update_src(f"{before}(count + 1){after}")

    def do_monkey_patch(self, kernel, other):
        function = self.function(kernel)
        assert function.params and function.src  # the base has read both when the function was made
        function.fn = self.function(other).fn

    def do_defaults(self, kernel, values):
        function = self.function(kernel)
        assert function.params
        function.fn.__defaults__ = tuple(values)

    def do_duplicate(self, kernel):
        setattr(self.module, kernel, copy.copy(self.function(kernel)))

    def do_pickle(self, kernel):
        """Copy a function through a pickle; what torch's inductor takes out of it before is taken out of a copy."""
        setattr(self.module, kernel, pickle.loads(pickle.dumps(self.function(kernel))))

    def do_forget_function(self, kernel):
        """Load a function anew; tell whether the old one is gone."""
        gone = weakref.ref(vars(self.module).pop(kernel))
        self.bound.pop(kernel, None)
        self.used.pop(kernel, None)
        self.kernels.clear()  # they hold their functions
        setattr(self.module, kernel, getattr(self.load(), kernel))
        gc.collect()
        return gone() is None

    def do_launch_metadata(self, kernel, on):
        self.function(kernel).launch_metadata = (lambda *_: {"extent": 7}) if on else None

    # Compiled kernels.

    def do_tamper(self, number, what):
        if number >= len(self.kernels):
            return
        compiled = self.kernels[number]
        if what == "run":
            compiled._run = wrapped(self, "kernel's run", compiled.run)
        elif what == "launch" and hasattr(compiled.run, "launch"):
            compiled.run.launch = wrapped(self, "launcher's launch", compiled.run.launch)
        elif what == "shared":
            *rest, shared = compiled.packed_metadata
            compiled.packed_metadata = (*rest, shared + 16)
        elif what == "cooperative":
            compiled.run.launch_cooperative_grid = True
        elif what == "scratch":
            compiled.run.global_scratch_size = 64
        elif what == "instance":
            compiled.launch_metadata = wrapped(self, "own launch_metadata", compiled.launch_metadata)

    # Triton itself.

    def do_patch(self, name):
        self.patches.apply(self, name)

    def do_unpatch(self):
        self.patches.undo()

    # The interpreter.

    def do_collect(self):
        gc.collect()

    def do_switch_often(self):
        sys.setswitchinterval(1e-6)

    def do_raise(self, error):
        raise ERRORS[error](error)

    def do_thread(self, step):
        answer = self.in_thread(lambda: self.do(step))
        if not self.muted:
            self.log.append(["thread", answer])

    def do_all(self, steps):
        for step in steps:
            self.do(step)

    def do_nothing(self):
        pass
