"""The caches of a function, as other software sees and replaces them."""
# mypy: ignore-errors

import collections


class WatchedDictionary(dict):
    """A dictionary of a class of its own that tells what it is asked, and knows only what the base asks."""

    watcher = None

    def get(self, key, default=None):
        self.watcher.asked("cache get", "")
        return dict.get(self, key, default)

    def __getitem__(self, key):
        self.watcher.asked("cache item", "")
        return dict.__getitem__(self, key)

    def __setitem__(self, key, value):
        self.watcher.happened("cache set")
        dict.__setitem__(self, key, value)

    def _refuse(self, *arguments):
        raise RuntimeError("dictionary changed size during iteration")

    items = values = keys = __iter__ = __contains__ = __len__ = _refuse


class WatchedCaches(collections.defaultdict):
    watcher = None

    def __getitem__(self, device):
        self.watcher.asked("caches item", "")
        return collections.defaultdict.__getitem__(self, device)


def watched(watcher, dictionary):
    made = WatchedDictionary(dictionary)
    made.watcher = watcher
    return made


def of(function, device):
    """Give a function's caches for a device; None where there are none."""
    return dict.get(function.device_caches, device)


def change(watcher, function, what, device):
    """Change a function's caches in one of several ways."""
    caches = of(function, device)
    if what == "clear":
        function.device_caches.clear()
    elif what == "new":
        function.device_caches = collections.defaultdict(function.create_binder)
    elif what == "watch":
        made = WatchedCaches(function.create_binder, dict.copy(function.device_caches))
        made.watcher = watcher
        function.device_caches = made
    elif what == "plain":
        function.device_caches = dict(dict.items(function.device_caches))
    elif caches is not None:
        change_of_device(watcher, function, what, device, caches)


def change_of_device(watcher, function, what, device, caches):
    kernels, keys, target, backend, binder = caches
    store = dict.__setitem__
    if what == "clear kernels":
        dict.clear(kernels)
    elif what == "clear keys":
        dict.clear(keys)
    elif what == "watch kernels":
        store(function.device_caches, device, (watched(watcher, kernels), keys, target, backend, binder))
    elif what == "watch keys":
        store(function.device_caches, device, (kernels, watched(watcher, keys), target, backend, binder))
    elif what == "swap kernels" and len(dict.keys(kernels)) > 1:
        first, second = list(dict.keys(kernels))[:2]
        left, right = dict.get(kernels, first), dict.get(kernels, second)
        store(kernels, first, right)
        store(kernels, second, left)
    elif what == "swap keys" and len(dict.keys(keys)) > 1:
        first, second = list(dict.keys(keys))[:2]
        left, right = dict.get(keys, first), dict.get(keys, second)
        store(keys, first, right)
        store(keys, second, left)
    elif what == "wrap binder":

        def wrapper(*arguments, **options):
            watcher.happened("binder", len(arguments), sorted(options))
            return binder(*arguments, **options)

        store(function.device_caches, device, (kernels, keys, target, backend, wrapper))
    elif what == "another binder":

        def changing(*arguments, **options):
            bound, specialization, rest = binder(*arguments, **options)
            return {**bound, "count": 99}, specialization, rest

        store(function.device_caches, device, (kernels, keys, target, backend, changing))
    elif what == "list":
        store(function.device_caches, device, list(caches))
