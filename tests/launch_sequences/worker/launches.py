"""Steps that launch, in all the ways that there are."""
# mypy: ignore-errors

import collections
import sys
import threading

from triton.runtime.jit import JITFunction

from . import foreign
from .moments import Suspended

GRIDS = {
    "tuple": tuple,
    "list": list,
    "dictionary": lambda extents: dict(enumerate(extents)),
    "nothing": lambda _: None,
    "number": lambda extents: extents[0],
    "generator": lambda extents: (extent for extent in extents),
    "text": lambda extents: "".join(map(str, extents)),
}
BASE_RUN = JITFunction.run
# What was unusual for long is looked at again only now and then.
MOST_SLOW = 130


def is_native():
    """Tell whether this Triton can launch without the base's Python code."""
    try:
        from triton.fork.launch.native import extension
    except ImportError:
        return False
    return extension() is not None


class Launches:
    """Part of :class:`~.world.World`."""

    def function(self, name):
        found = getattr(self.module, name)
        if isinstance(found, JITFunction):
            self.used.setdefault(name, found)
        return found

    def extents(self, kind, numbers):
        if kind == "sequence":
            return foreign.Extents(self, numbers)
        if kind == "indices":
            return tuple(foreign.watched_number(self, "extent", number) for number in numbers)
        return GRIDS[kind](numbers)

    def grid(self, spec):
        """Make a grid: kind, extents, and how it is given: as it is, a function, an object that can be called, a method."""
        kind, numbers, how = spec
        if how == "plain":
            return self.extents(kind, numbers)

        def computed(bound):
            self.happened("grid", sorted(bound))
            if self.frames:
                self.frames[-1].phase = " after the grid"
            self.act("late grid")
            return self.extents(kind, numbers)

        if how == "changing":

            def changing(bound):
                extents = computed(bound)
                bound["count"] = 77
                return extents

            return changing
        if how == "taking":

            def taking(bound):
                extents = computed(bound)
                del bound["count"]
                return extents

            return taking
        return computed

    def keywords_of(self, specs, fresh_names):
        """Make keyword arguments; with names that are equal to the parameters' and other objects where wanted."""
        made = {name: self.value(spec) for name, spec in specs.items()}
        return {"".join(list(name)): value for name, value in made.items()} if fresh_names else made

    def do_launch(
        self, kernel, grid, values, keywords=(), options=(), times=1, during=(), how="getitem", fresh_names=False
    ):
        arguments = [self.value(spec) for spec in values]
        named = {**self.keywords_of(dict(keywords), fresh_names), **dict(options)}
        extents = self.grid(grid)
        launch = self.launcher(how, kernel, extents)
        return [self.known(self.within(during, lambda: launch(*arguments, **named))) for _ in range(times)]

    def launcher(self, how, kernel, extents):
        if how == "bound":
            return self.bound.get(kernel) or self.function(kernel)[extents]
        function = self.function(kernel)
        if how == "run":
            return lambda *arguments, **named: function.run(*arguments, grid=extents, warmup=False, **named)
        if how == "warmup":
            return lambda *arguments, **named: function.warmup(*arguments, grid=extents, **named)
        if how == "thread":
            return lambda *arguments, **named: self.launch_in_thread(function[extents], arguments, named)
        return lambda *arguments, **named: function[extents](*arguments, **named)

    def launch_in_thread(self, launch, arguments, named):
        """Launch in another thread; what is to happen during the launch happens there."""
        during = self.frames[-1].pending
        kernels = []
        answer = self.in_thread(lambda: kernels.append(self.within(during, lambda: launch(*arguments, **named))))
        if kernels:
            return kernels[0]
        self.happened("thread", answer)
        return None

    def do_bind(self, kernel, grid):
        self.bound[kernel] = self.function(kernel)[self.grid(grid)]

    def do_launch_compiled(self, number, values):
        """Launch a kernel that was returned, as it is."""
        if number < len(self.kernels):
            compiled = self.kernels[number]
            arguments = [self.value(spec) for spec in values][: len(compiled.src.signature)]
            self.within((), lambda: compiled[(1, 2, 3)](*arguments))
        return len(self.kernels)

    def do_endless(self, kernel, limit=None, stack=0):
        """Launch with a grid that launches the same again, for ever; in a thread with a small stack where wanted.

        :param limit: how deep Python may nest; as it is by default
        :param stack: bytes of the thread's stack; 0 for none
        """
        usual = sys.getrecursionlimit()
        sys.setrecursionlimit(limit or usual)
        threading.stack_size(stack)
        try:
            return self.in_thread(lambda: self.endless(kernel)) if stack else self.endless(kernel)
        finally:
            threading.stack_size(0)
            sys.setrecursionlimit(usual)

    def endless(self, kernel):
        function, pointer = self.function(kernel), foreign.make_tensor(self, "own", "silent", 4096, "float32")
        self.muted += 1

        def again(_):
            function[again](pointer, 5)
            return (1,)

        try:
            function[again](pointer, 5)
        finally:
            self.muted -= 1

    def do_begin(self, launch):
        """Launch in another thread up to where it pauses; it goes on later."""
        thread = Suspended(lambda: self.guarded(lambda: self.do({"do": "launch", **launch})))
        self.threads.append(thread)
        return thread.begin()

    def do_resume(self, number):
        if number < len(self.threads):
            return self.threads[number].resume()
        return None

    def do_pause(self):
        """Wait, in a thread that another step began."""
        thread = threading.current_thread()
        if isinstance(thread, Suspended) and not thread.go.is_set() and not thread.pause():
            self.log.append(["never told to go on"])

    def settled(self, name):
        """Tell whether a function's usual launch, repeated, is done natively; true where no Triton could."""
        function = self.used[name]
        for attribute in ("run", "kernel"):
            vars(function).pop(attribute, None)
        function.kernel, function.debug, function.pre_run_hooks = None, None, []
        function.device_caches = collections.defaultdict(function.create_binder)
        pointer = foreign.make_tensor(self, "own", "silent", 4096, "float32")
        values = {"nested": [(pointer, pointer), 5], "descriptor": [self.new_descriptor(), 5]}.get(name, [pointer, 5])
        values += {"mixed": [1.5, True], "constant": [64]}.get(name, [])
        for _ in range(4):
            function[(1,)](*values)
        return not is_native() or any(self.is_fast(function, values) for _ in range(MOST_SLOW))

    def is_fast(self, function, values):
        """Launch; tell whether that went without the base's Python code."""
        slow = []

        def watch(frame, event, _):
            if event == "call" and frame.f_code is BASE_RUN.__code__:
                slow.append(frame)

        sys.setprofile(watch)
        try:
            function[(1,)](*values)
        finally:
            sys.setprofile(None)
        return not slow
