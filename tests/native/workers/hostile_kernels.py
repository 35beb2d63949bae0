"""Kernels with dispatchers, launched while places that a launch looks at hold anything."""
# mypy: ignore-errors

import collections
import gc
import sys
import types

from tests.native.workers.attempts import attempt


class Fast:
    """Kernels with dispatchers, and what goes on behind their backs."""

    def __init__(self, program, kernels, dispatch, knobs, drivers):
        self.program, self.dispatch, self.knobs, self.drivers = program, dispatch, knobs, drivers
        self.random, self.hostile = program.random, program.hostile
        self.kernels = kernels
        self.names = ["plain", "mixed", "uses_global", "described"]
        self.hostile.mischief += [self.launch_usual, self.disturb, self.collect]

    def arguments(self, name):
        target = self.random.choice([self.hostile.pointer(), self.hostile.pointer(), self.hostile.value()])
        number = self.random.choice([5, 5, 16, self.hostile.value()])
        return [target, number, 1.5, True] if name == "mixed" else [target, number]

    def grid(self):
        hostile = self.hostile
        return self.random.choice(
            [(1,), (2, 3), (hostile.value(), 1), hostile.value(), lambda _: hostile.value(), self.grown]
        )

    def grown(self, bound):
        """A grid that does something with what it is given."""
        self.hostile.chaos()
        attempt(bound.update, count=self.hostile.value()) if self.random.random() < 0.5 else bound.clear()
        return (1,)

    def launch_usual(self):
        name = self.random.choice(self.names)
        attempt(self.kernels.__dict__[name][self.grid()], *self.arguments(name))

    def collect(self):
        self.kernels.plain.device_caches.clear()
        gc.collect(0)

    def disturb(self):
        """Put anything in a place that is looked at in a call."""
        function = self.kernels.__dict__[self.random.choice(self.names)]
        places = [
            (function, name)
            for name in ("debug", "pre_run_hooks", "used_global_vals", "device_caches", "run", "params")
        ]
        places += [(self.knobs, "runtime"), (self.knobs, "compilation"), (self.knobs.runtime, "launch_enter_hook")]
        places += [
            (self.knobs.runtime, "debug"),
            (self.drivers, "_active"),
            (self.drivers.active, "get_current_device"),
        ]
        places += [(self.drivers.active, "get_current_stream")]
        places += [(sys.modules["triton.runtime.jit"], name) for name in ("compute_cache_key", "driver", "knobs")]
        compiled = [
            kernel for caches in dict.values(function.__dict__["device_caches"]) for kernel in caches[0].values()
        ]
        places += [(kernel, name) for kernel in compiled for name in ("_run", "packed_metadata")]
        places += [
            (kernel._run, name) for kernel in compiled for name in ("launch", "global_scratch_size") if kernel._run
        ]
        holder, name = self.random.choice(places)
        missing = object()
        before = holder.__dict__.get(name, missing)
        try:
            attempt(setattr, holder, name, self.hostile.value())
            self.launch_usual()
        finally:
            if before is missing:
                holder.__dict__.pop(name, None)
            else:
                holder.__dict__[name] = before

    def poison(self):
        """Let a dictionary that is looked into have keys that run code when they are compared."""
        hostile = self.hostile
        caches = self.kernels.plain.device_caches
        for kernels, *_ in list(caches.values()):
            for key in list(kernels):

                class Key:
                    number = hash(key)

                    def __hash__(self):
                        return self.number

                    def __eq__(self, other):
                        caches.clear()
                        hostile.chaos()
                        return False

                kept = kernels.pop(key)
                kernels[Key()] = kept
                kernels[key] = kept
        self.kernels.uses_global.used_global_vals = {("SCALE", 1): (hostile.indexed(), self.kernels.__dict__)}

    def specifications(self):
        """Dispatchers whose other half tells them anything."""
        module, random, hostile = self.program.extension, self.random, self.hostile

        def spoiled(made, chance=0.1):
            if isinstance(made, tuple):
                made = tuple(spoiled(item) for item in made)
                return made[: random.randrange(len(made) + 1)] if random.random() < chance / 4 else made
            if isinstance(made, dict):
                return {name: spoiled(item) for name, item in made.items() if random.random() >= chance / 40}
            return hostile.value() if random.random() < chance else made

        def spoiling(function):
            return lambda *arguments: spoiled(function(*arguments))

        guards, specifications = self.dispatch.guards, self.dispatch.entry_specification
        functions = (
            guards.environment,
            guards.guards_ok,
            specifications.describe,
            specifications.specify,
            self.dispatch._finish,
        )
        types_ = (collections.defaultdict, types.FunctionType)
        launcher = attempt(
            module.make_launcher, *(spoiled(each, 0.03) for each in (*map(spoiling, functions), *types_))
        )
        if launcher is None:
            return
        launch, self.dispatch.launch = self.dispatch.launch, launcher.launch
        try:
            self.forget()
            for _ in range(10):
                self.launch_usual()
        finally:
            self.dispatch.launch = launch
            self.forget()

    def forget(self):
        for name in self.names:
            for caches in list(dict.values(self.kernels.__dict__[name].__dict__["device_caches"])):
                caches[4].__globals__.pop("_fork_dispatcher", None)

    def objects(self):
        """The launchers and dispatchers themselves."""
        launcher = self.dispatch.prepare().__self__
        found = [
            caches[4].__globals__.get("_fork_dispatcher") for caches in dict.values(self.kernels.plain.device_caches)
        ]
        for made in (launcher, *found):
            attempt(type(made))
            attempt(type(made).__new__, type(made))
            attempt(type, "Sub", (type(made),), {})
        empty = type(launcher).__new__(type(launcher))
        for one in (launcher, empty):
            attempt(one.launch, *self.program.some(5))
            keywords = {"count": 1, "x": self.hostile.value()}
            values = tuple(self.program.some(80 if self.random.random() < 0.2 else 4))
            attempt(one.launch, self.kernels.plain, self.grid(), values, keywords)
        attempt(type(launcher).launch, self.hostile.value(), None, None)

    def run(self):
        for name in self.names:
            attempt(self.kernels.__dict__[name][(1,)], *[self.hostile.fixed(), 5][:2])
        for _ in range(6):
            self.random.choice(
                [self.launch_usual, self.launch_usual, self.disturb, self.objects, self.poison, self.specifications]
            )()
