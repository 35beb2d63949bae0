"""The two vendors' launchers, the base's and the extension's, for comparisons: how to make both and what to call them with."""
# mypy: ignore-errors

from pathlib import Path

from triton.fork.launch.native import LETTERS, expanded_signature, signature_letters
from triton.runtime.build import _build, _load_module_from_path

from tests.native.workers import image
from tests.native.workers.arguments import SIZES, leaves, random_type

CLUSTERS = [1, 1, 1, 2, 16]
GRIDS = [0, 1, 2, 65535, 65536, 2**31 - 1, -1, 2**31]


def compiled(source, folder, number, vendor):
    """Compile a launcher as the base does, with less optimisation."""
    path = Path(folder) / f"launcher{number}.c"
    path.write_text(source)
    built = Path(folder) / str(number)
    built.mkdir()
    name, flags = "__triton_launcher", ["-O1", "-Wno-int-conversion"]
    directories, libraries = vendor.linked()
    library = _build(name, str(path), str(built), directories, vendor.base.include_dirs, libraries, flags)
    return _load_module_from_path(name, library).launch


def grid_of(random):
    return [random.choice(GRIDS) if random.random() < 0.1 else random.randint(1, 9) for _ in range(3)]


def scratch_of(random):
    return random.choice([None, None, 4096, -1 if random.random() < 0.02 else 64])


def packed_metadata(random, clusters):
    shared = random.choice([0, 1024, 2**20 if random.random() < 0.05 else 0])
    return (random.choice([1, 4, 8]), random.choice(clusters), shared)


class Cuda:
    """CUDA's launchers.

    :ivar function_at: index of the function's handle among a launcher's arguments
    """

    function_at = 4

    def __init__(self, extension):
        from triton.backends.nvidia import driver

        from tests.fake_driver.nvidia import install

        self.fake, self.base, self.extension = install(), driver, extension
        assert extension.load_driver(None)
        fill = self.fake.utils.fill_tma_descriptor
        self.descriptors = [fill(4096 * n, 0, 4, 7, [16, 16], [64, 64 * n], [64, 1], n % 2) for n in (1, 2, 3)]
        if driver.PyCUtensorMap is extension.PyCUtensorMap:
            self.descriptors.append(extension.fill_tma_descriptor(8192, 3, 2, 6, [8], [64], [1], 1))

    def linked(self):
        return self.base.library_dirs(), self.base.libraries

    def signature(self, random, length):
        """Make the types of the parameters, and those that a launcher takes for them."""
        types = [random_type(random) for _ in range(length)]
        return types, None, types

    def load(self, name, sizes):
        return self.extension.load_binary(name, image.cubin(name, sizes), 0, 0)[1]

    def launchers(self, types, descriptors, folder, number):
        source = self.base.make_launcher({}, dict(enumerate(types)), descriptors)
        letters = signature_letters(types, LETTERS)
        ours = self.extension.Program("cuda", letters, self.base.PyCUtensorMap, 0).launch
        return compiled(source, folder, number, self), ours

    def head(self, random, function, metadata, hooks):
        stream = random.choice([0, 0x51AE, 2**64 - 1])
        flags = [random.random() < 0.2, random.random() < 0.2]
        scratch = [scratch_of(random), scratch_of(random)]
        described = packed_metadata(random, CLUSTERS)
        return [*grid_of(random), stream, function, *flags, *scratch, described, metadata, *hooks]

    def is_excused(self, base, ours):
        """After a wrong address the base goes on with an exception set, and calls into Python in that state."""
        return ours[0] == "OverflowError"


def mended(source, wrong, right):
    """Replace what crashes with a wrong argument in the base's C."""
    assert wrong in source
    return source.replace(wrong, right)


class Hip:
    """HIP's launchers."""

    function_at = 5

    def __init__(self, extension):
        from triton.backends.amd import driver
        from triton.fork.launch import native_hip

        from tests.fake_driver.amd import install

        self.fake, self.base, self.extension, self.letters = install(), driver, extension, native_hip._LETTERS
        extension.load_hip_driver(str(self.fake.library.path))
        make = self.fake.utils.create_tdm_descriptor
        self.descriptors = [make(16, [16, 32 * n], 4, 32, 8, [64, 64 * n], [64 * n, 1], 4096 * n) for n in (1, 2, 3)]

    def linked(self):
        return [], []

    def signature(self, random, length):
        """Make the types of the parameters, and those that a launcher takes for them, with some descriptors among them."""
        sizes = [type_ for type_ in SIZES if type_ not in ("nvTmaDesc", "tensordesc")]
        types = [random_type(random, sizes) for _ in range(length)]
        descriptors = []
        for _ in range(random.choice([0, 0, 1, 2])):
            types.insert(
                random.randint(0, len(types)), random.choice(["tensordesc<bf16[16, 32]>", "tensordesc<i8[64]>"])
            )
            descriptors.append(random.choice([None, {"block_size": [16, 32]}]))
        described = descriptors if any(descriptors) else None
        return types, described, expanded_signature(types, described, "tensordesc")

    def load(self, name, sizes):
        return self.extension.hip_load_binary(name, image.hsaco(name, sizes), 0, 0)[1]

    def launchers(self, types, descriptors, folder, number):
        source = self.base.make_launcher({}, dict(enumerate(types)), 64, descriptors)
        expanded = expanded_signature(types, descriptors, "tensordesc")
        source = mended(source, "cleanup:\n  Py_DECREF(ret);", "cleanup:\n  Py_XDECREF(ret);")
        for at, type_ in enumerate(leaves(expanded)):
            if type_ == "tensordesc":
                line = f"TDMDescriptor* desc{at} = getTDMDescriptor(_arg{at}, {at});"
                source = mended(source, line, f"{line} if (!desc{at}) return NULL;")
        letters = signature_letters(expanded, self.letters)
        ours = self.extension.Program("hip", letters, self.base.PyTDMDescriptor, 64).launch
        return compiled(source, folder, number, self), ours

    def head(self, random, function, metadata, hooks):
        described = packed_metadata(random, [*CLUSTERS, 0, -1])
        stream = random.choice([0, 0x51AE, 2**64 - 1])
        profile = scratch_of(random)
        return [random.random() < 0.2, *grid_of(random), stream, function, profile, described, metadata, *hooks]

    def is_excused(self, base, ours):
        """After any error the base goes on with an exception set, and calls the exit hook in that state."""
        in_exit_hook = base[0] == "SystemError" or base[1].startswith("Triton Error [HIP]")
        return ours[0] == "OverflowError" or (in_exit_hook and base[2] == ours[2])


VENDORS = {"cuda": Cuda, "hip": Hip}
