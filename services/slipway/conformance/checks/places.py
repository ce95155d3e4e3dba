"""EXE: places on the machine that are Slipway's own, where a provisioner puts nothing."""

from collections.abc import Iterator

from slipway.conformance import requests
from slipway.conformance.check import Checks
from slipway.conformance.decoders import decoded
from slipway.conformance.outcome import Unverified, all_hold
from slipway.conformance.session import Session
from slipway.conformance.trial import rich
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()
_FOLDERS = ("/etc/slipway", "/var/lib/slipway")
_WINDOWS_FOLDERS = ("/programdata/slipway",)
_SENTINEL = "/run/cluster-api/bootstrap-success.complete"
_KINDS = ("files", "directories", "links", "mounts", "swaps")


@CHECKS.check_format("EXE-009")
async def places_of_slipway(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Among Slipway's own files there is nothing but what the bundle puts there."""
    windows = requests.is_windows(info)
    problems: set[str] = set()
    unseen = False
    for request in (await session.base(info), await rich(session, info)):
        state = await decoded(session.options, info, await session.subject.rendered(request))
        asked = set(_paths(request.bundle.os, windows=windows))
        problems |= {
            f"{path} is in the user data, and the bundle puts nothing there"
            for path in _paths(state.os, windows=windows)
            if _reserved(path, windows=windows)
            and not any(place == path or place.startswith(f"{path}/") for place in asked)
        }
        unseen |= "os.files" not in state.features
    all_hold(sorted(problems))
    if unseen and "os.files" in {support.id for support in info.features}:
        raise Unverified("the decoder does not see os.files")


def _paths(system: ospb.OperatingSystem, *, windows: bool) -> Iterator[str]:
    """Give all paths; on Windows without the drive and in one spelling."""
    for kind in _KINDS:
        for one in getattr(system, kind):
            yield one.path.replace("\\", "/").lower().split(":", 1)[-1] if windows else one.path


def _reserved(path: str, *, windows: bool) -> bool:
    folders = _WINDOWS_FOLDERS if windows else _FOLDERS
    return path == _SENTINEL or any(f"{path}/".startswith(f"{folder}/") for folder in folders)
