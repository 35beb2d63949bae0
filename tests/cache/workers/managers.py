"""Use each kind of cache manager; the base and the fork must do the same with them."""

import json
import os
import sys
import tempfile

import common
from triton.runtime.cache import CacheManager, FileCacheManager, RemoteCacheBackend, RemoteCacheManager

import triton

calls = []


class OwnFolders(FileCacheManager):
    """As vLLM and others do: sets the folder itself and never calls the constructor of the base class."""

    def __init__(self, key, override=False, dump=False):
        self.key = key
        self.lock_path = None
        self.cache_dir = os.path.join(triton.knobs.cache.dir, "own", key)
        self.lock_path = os.path.join(self.cache_dir, "lock")
        os.makedirs(self.cache_dir, exist_ok=True)


class InMemory(CacheManager):
    """Keeps everything in a dictionary, and files in a folder of its own, since paths are asked for."""

    stored = {}
    folder = tempfile.mkdtemp()

    def __init__(self, key, override=False, dump=False):
        self.key = key

    def get_file(self, filename):
        calls.append(["get_file", filename])
        return self.stored.get((self.key, filename))

    def put(self, data, filename, binary=True):
        calls.append(["put", filename])
        path = os.path.join(self.folder, self.key + filename)
        with open(path, "wb") as stream:
            stream.write(data if isinstance(data, bytes) else str(data).encode())
        self.stored[self.key, filename] = path
        return path

    def get_group(self, filename):
        calls.append(["get_group", filename])
        return self.stored.get((self.key, "group", filename))

    def put_group(self, filename, group):
        calls.append(["put_group", filename, sorted(group)])
        self.stored[self.key, "group", filename] = dict(group)


class Changing(InMemory):
    """Changes what it stores; what is stored counts."""

    stored = {}

    def put(self, data, filename, binary=True):
        if filename.endswith(".ptx"):
            data = "// signed\n" + str(data)
        return super().put(data, filename, binary)


class Backend(RemoteCacheBackend):
    stored = {}

    def __init__(self, key):
        self.key = key

    def get(self, filenames):
        calls.append(["get", sorted(filenames)])
        return {name: self.stored[self.key, name] for name in filenames if (self.key, name) in self.stored}

    def put(self, filename, data):
        calls.append(["put", filename])
        assert isinstance(data, bytes)
        self.stored[self.key, filename] = data


hits, said = common.Hits(), common.Said()
triton.knobs.cache.remote_manager_class = Backend
whole = common.compile_kernel()
result = {}
for manager in (OwnFolders, InMemory, Changing, RemoteCacheManager):
    triton.knobs.cache.manager_class = manager
    hits.take(), calls.clear()
    first, second = common.compile_kernel(), common.compile_kernel()
    result[manager.__name__] = {
        "hits": hits.take(),
        "calls": list(calls),
        "same": [first.kernel == whole.kernel, second.kernel == whole.kernel],
        "ptx": [first.asm["ptx"].splitlines()[0], second.asm["ptx"].splitlines()[0]],
        "asm": sorted(second.asm),
        "group": sorted(second.metadata_group),
    }
    if manager is RemoteCacheManager:
        for key in Backend.stored:
            if key[1].startswith("__grp__"):
                Backend.stored[key] = b"{"
        kernel = common.outcome(lambda: common.compile_kernel().kernel == whole.kernel)
        result["remote_damaged"] = {"kernel": kernel, "said": len(said.take()), "hits": hits.take()}
        for key in [key for key in Backend.stored if key[1].endswith(".ttir")]:
            del Backend.stored[key]
        texts = common.outcome(lambda: sorted(common.compile_kernel().asm))
        result["remote_part_missing"] = {"texts": texts, "hits": hits.take()}
triton.knobs.cache.manager_class = None

# Dump and override: dump, change the dumped text of one stage, and have it used.
folders = {name: tempfile.mkdtemp(dir=os.path.dirname(triton.knobs.cache.dir)) for name in ("dump", "cache")}
triton.knobs.cache.dump_dir = triton.knobs.cache.override_dir = folders["dump"]
triton.knobs.cache.dir = folders["cache"]
triton.knobs.compilation.dump_ir = True
triton.compiler.compiler.get_sass = lambda cubin: "no disassembler is needed"
common.compile_kernel()
result["dumped"] = common.files_below(folders["dump"])
triton.knobs.compilation.dump_ir = False
(path,) = (p for p in result["dumped"] if p.endswith(".ttir"))
with open(os.path.join(folders["dump"], path)) as stream:
    text = stream.read()
with open(os.path.join(folders["dump"], path), "w") as stream:
    stream.write(text.replace("7 : i32", "9 : i32").replace("%c7_i32", "%c9_i32"))
triton.knobs.compilation.override = True
triton.knobs.compilation.always_compile = True
sys.stdout, keep = open(os.devnull, "w"), sys.stdout
result["overridden"] = "9 : i32" in common.compile_kernel().asm["ttir"]
sys.stdout = keep
triton.knobs.compilation.override = triton.knobs.compilation.always_compile = False

# A dump that cannot be written is an error: it was asked for.
triton.knobs.cache.dump_dir = "/dev/null/dump"
triton.knobs.compilation.dump_ir = True
result["dump_fails"] = common.outcome(common.compile_kernel).split(":")[0]
triton.knobs.compilation.dump_ir = False

triton.knobs.compilation.store_binary_only = True
triton.knobs.cache.dir = tempfile.mkdtemp(dir=os.path.dirname(folders["cache"]))
hits.take()
result["binary_only"] = [sorted(common.compile_kernel().asm), sorted(common.compile_kernel().asm), hits.take()]

# Files of the interface itself, in a folder that the test hands from the base to the fork and back.
if len(sys.argv) > 1:
    triton.knobs.cache.dir = sys.argv[1]
    manager = FileCacheManager("exchanged")
    found = manager.get_group("group")
    result["found"] = None if found is None else {n: open(p, "rb").read().decode() for n, p in found.items()}
    paths = {"text": manager.put("ä\n", "text"), "bytes": manager.put(b"b", "bytes")}
    manager.put_group("group", paths)
    result["mode"] = oct(os.stat(paths["text"]).st_mode)
result["said"] = said.take()
common.report(json.loads(json.dumps(result)))
