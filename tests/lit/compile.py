"""Print one artifact of one case of ``tests/kernels``: ``compile.py MODULE/CASE TARGET STAGE``.

Runs in the interpreter whose Triton is under test. The cache is a folder of this run alone.
"""

import os
import sys
import tempfile
from pathlib import Path

repository = Path(__file__).parents[2]
sys.path.append(str(repository / "ci"))

from fork.equivalence.corpus import load_module  # noqa: E402
from fork.equivalence.variants import gpu_target, variants  # noqa: E402


def main(name: str, target: str, stage: str) -> None:
    import triton

    module, case_name = name.split("/")
    case = next(case for case in load_module(repository / "tests" / "kernels", module) if case.name == case_name)
    variant = next(variants(case))
    print(triton.compile(variant.source, target=gpu_target(target), options=variant.options).asm[stage])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        main(*sys.argv[1:])
