"""``verify``, ``index`` and ``info``: wheels and indexes that exist already."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fork.archive.wheels import ArchiveError
from fork.builder import prepare, rebuild_faults
from fork.commands.context import Context, Subparsers, add_download_options, add_lane_option
from fork.errors import ForkError, UsageError
from fork.index.checking import check_index
from fork.index.records import IndexFaultError
from fork.index.writing import promote, write_index
from fork.info import installed_info, wheel_info
from fork.publishing import output_folder
from fork.verify import VerifyError, wheel_faults

_INDEX_EXAMPLES = """examples:
  ci/fork.sh index                          write the index of wheelhouse/
  ci/fork.sh index /srv/wheels --check      is it in order?
  ci/fork.sh index --promote                installers take the new build from now on
  ci/fork.sh index --promote q3fa94c21      go back to an older one, or choose among several
"""

__all__ = ["add_parser", "run_index", "run_info", "run_verify"]


class UnknownBaseError(ForkError):
    """A wheel names a base that fork.toml does not pin, so there is nothing to compare it with."""

    exit_code = 50


def add_parser(subparsers: Subparsers) -> None:
    """Describe the arguments of the three verbs."""
    verify = subparsers.add_parser(
        "verify",
        help="check a wheel",
        description="Checks content against RECORD, names, tags, permissions, provenance, bill of materials, and, unless told "
        "otherwise, that nothing differs from the base wheel but what the wheel declares. A wheel of the version that this "
        "checkout builds is built again and compared byte for byte.",
    )
    verify.add_argument("wheel", type=Path, nargs="+", help="wheel of the fork")
    verify.add_argument("--no-base", action="store_true", help="do not get the base wheel for comparison")
    verify.add_argument("--json", action="store_true", help="print the faults as JSON")
    add_download_options(verify)
    verify.set_defaults(run=run_verify)
    index = subparsers.add_parser(
        "index",
        help="write or check the index of a wheelhouse, or promote a build in it",
        description="Writes simple/ for the wheels in a folder: HTML (PEP 503), JSON (PEP 691, PEP 700), metadata (PEP 658). "
        "The first build in it is what installers take until another one is promoted; what was not promoted is listed as yanked "
        "(PEP 592), and installed where its version is named. Only a build with all the wheels that the index offers so far can "
        "be promoted.",
        epilog=_INDEX_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    index.add_argument("wheelhouse", type=Path, nargs="?", help="folder with wheels (default: wheelhouse/)")
    action = index.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true", help="compare the index with the wheels instead of writing it")
    action.add_argument(
        "--promote",
        metavar="VERSION",
        nargs="?",
        const="",
        help="make this build the one that installers take (default: the only one that never was); the last part will do",
    )
    index.add_argument(
        "--without",
        metavar="TAG",
        action="append",
        default=[],
        help="with --promote: give up a Python or machine, cp310 or aarch64; repeatable",
    )
    index.set_defaults(run=run_index)
    info = subparsers.add_parser(
        "info",
        help="say what a wheel or an installed triton is",
        description="Prints upstream version and commit, patches with their reasons, digests and builder.",
        epilog="examples:\n  ci/fork.sh info wheelhouse/triton-*.whl\n  ci/fork.sh info installed --python venv/bin/python",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    info.add_argument("subject", help="path of a wheel, or 'installed'")
    info.add_argument(
        "--python", type=Path, default=Path("python3"), help="interpreter whose triton is meant (default: python3)"
    )
    info.add_argument("--json", action="store_true", help="print everything as JSON")
    info.set_defaults(run=run_info)
    add_lane_option(info)
    add_lane_option(verify)


def run_verify(arguments: argparse.Namespace, context: Context) -> int:
    """Check wheels and list what is wrong.

    :raises VerifyError: Something is.
    :raises UnknownBaseError: There is no base to compare one with.
    :raises ArchiveError: A file is not there.
    """
    missing = [str(path) for path in arguments.wheel if not path.is_file()]
    if missing:
        raise ArchiveError(f"there is no file {', '.join(missing)}", "name wheels of the fork")
    found = {str(path): _wheel_faults(arguments, context, path) for path in arguments.wheel}
    if arguments.json:
        context.print_json(found)
        return VerifyError.exit_code if any(found.values()) else 0
    faults = [f"{name}: {fault}" for name, rows in found.items() for fault in rows]
    if faults:
        raise VerifyError(
            "not in order:" + "".join(f"\n  - {fault}" for fault in faults), "build again; do not publish"
        )
    context.print_plain("\n".join(f"{name}: in order" for name in found))
    return 0


def _wheel_faults(arguments: argparse.Namespace, context: Context, path: Path) -> list[str]:
    """Check a wheel on its own, against its base, and, where the checkout builds this very version, against a new build."""
    faults = wheel_faults(path)
    if faults or arguments.no_base:
        return faults
    document = wheel_info(path)
    if document["base"]["kind"] == "source":
        context.messages.print(
            f"{path.name} was built from source: there is no base wheel to compare it with", highlight=False
        )
        return []
    lane = context.lane(arguments)
    named = document["base"]["sha256"]
    pinned = [(release, wheel) for release in lane.releases for wheel in release.wheels if wheel.sha256 == named]
    if not pinned:
        raise UnknownBaseError(
            f"the base that {path.name} names is not pinned in fork.toml, so there is nothing to compare it with",
            "check it in the checkout that it was built from, or alone with --no-base",
        )
    release, pinned_wheel = pinned[0]
    base = context.fetch(arguments, [pinned_wheel])[0]
    faults = wheel_faults(path, base)
    with context.project.scratch("verify") as scratch:
        prepared = prepare(context.project, release, base, scratch, lambda _: None, [pinned_wheel.machine])
        if prepared.version == document["version"]:
            return faults + rebuild_faults(prepared, path, pinned_wheel, base, scratch)
    context.messages.print(
        f"{path.name} was not compared with a build of this checkout, which makes {prepared.version}", highlight=False
    )
    return faults


def run_index(arguments: argparse.Namespace, context: Context) -> int:
    """Write or check the index of a folder, or promote a build.

    :raises IndexFaultError: With ``--check``: index and wheels disagree.
    :raises PromotionError: With ``--promote``: the build is not there, or not whole.
    """
    wheelhouse = (arguments.wheelhouse or context.project.wheelhouse).resolve()
    if arguments.without and arguments.promote is None:
        raise UsageError("--without says what a promotion may give up", "give --promote too")
    if arguments.check:
        faults = check_index(wheelhouse)
        if faults:
            raise IndexFaultError("the index is not in order:" + "".join(f"\n  - {fault}" for fault in faults))
        context.print_plain("The index agrees with the wheels.")
        return 0
    with output_folder(wheelhouse):
        if arguments.promote is None:
            report = write_index(wheelhouse)
        else:
            version, report = promote(wheelhouse, arguments.promote, arguments.without)
            context.print_plain(f"Installers take {version} from now on.")
    for version, reason in report.yanked.items():
        context.print_plain(f"{version} is installed only where it is named: {reason}")
    context.print_plain(f"Index written to {wheelhouse / 'simple'}")
    return 0


def run_info(arguments: argparse.Namespace, context: Context) -> int:
    """Print what a wheel or an installation is."""
    installed = arguments.subject == "installed"
    document = installed_info(arguments.python) if installed else wheel_info(Path(arguments.subject))
    if arguments.json:
        context.print_json(document)
        return 0
    context.print_plain(_describe(context, arguments, document))
    return 0


def _describe(context: Context, arguments: argparse.Namespace, document: dict[str, Any]) -> str:
    """Describe with the overlay's own module, which ``python -m triton.fork`` uses in an installation."""
    folders = context.project.overlays(context.lane(arguments))
    description, settings = (_own_module(folders, name) for name in ("description", "settings"))
    text: str = description.describe(document, {name: switch.part for name, switch in settings.SWITCHES.items()})
    return text


def _own_module(folders: Iterable[Path], name: str) -> Any:
    places = [folder / "python" / "triton" / "fork" / f"{name}.py" for folder in folders]
    spec = importlib.util.spec_from_file_location(f"overlay_{name}", next(filter(Path.is_file, places), places[-1]))
    if spec is None or spec.loader is None:
        raise FileNotFoundError(places[-1])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
