"""RND: many items at once, for what is left out of one in ten, or behind a limit that nobody has told of."""

import hashlib

from slipway.conformance import requests
from slipway.conformance.check import Checks
from slipway.conformance.checks.meaning import compared
from slipway.conformance.outcome import Unverified, all_hold
from slipway.conformance.session import Session
from slipway.contract.features import compute_features
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()
FILES, LABELS, LARGE = 60, 40, 300_000
_MODES = (0o644, 0o600, 0o755, 0o440, 0o400)
_FOLDERS = ("/etc", "/opt", "/root", "/srv", "/usr/local/bin", "/var/lib")
_DEEP = "/".join(["a-folder-in-folders"] * 20)
_KINDS = ({"architecture": "arm64"}, {"infrastructure": "aws"}, {"infrastructure": "azure", "architecture": "arm64"})
"""Targets that say something else of the machine than the default one."""
_EFFECTS = (
    kubernetespb.TAINT_EFFECT_NO_SCHEDULE,
    kubernetespb.TAINT_EFFECT_PREFER_NO_SCHEDULE,
    kubernetespb.TAINT_EFFECT_NO_EXECUTE,
)


@CHECKS.check_format("RND-018")
async def many_items(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Each of many items is there, with what is its own; a large one is whole."""
    declared = {support.id for support in info.features}
    request = await session.base(info)
    if "os.files" in declared:
        found = [
            requests.file(f"many/{number}", f"file {number}\n".encode(), mode=_MODES[number % len(_MODES)])
            for number in range(FILES)
        ]
        found.append(requests.file("large", _text(LARGE)))
        request = requests.merged(request, requests.files(*found), info)
    if info.kubernetes_input == requests.INTENT:
        node = request.bundle.intent.kubernetes.node
        for number in range(LABELS):
            node.labels.add(name=f"example.com/label-{number}", value=f"value-{number}")
            effect = _EFFECTS[number % len(_EFFECTS)]
            node.taints.items.add(key=f"example.com/taint-{number}", value=f"value-{number}", effect=effect)
        request = requests.merged(request, type(request.bundle)(), info)
    found_here = await compared(session, info, request)
    all_hold([*found_here.problems, *found_here.surplus])
    unseen = found_here.unverified & {"os.files", "kubernetes.node.labels", "kubernetes.node.taints"}
    if unseen:
        raise Unverified(f"the decoder does not see {', '.join(sorted(unseen))}")


@CHECKS.check_format("RND-018")
async def wherever_it_is(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Files arrive in every folder, and on machines of another kind all does, as in the suite's own."""
    base = await session.base(info)
    takes_files = "os.files" in {support.id for support in info.features}
    item = requests.files(requests.file("kind", b"of it\n")) if takes_files else bundlepb.BootstrapBundle()
    problems = []
    if takes_files and not requests.is_windows(info):
        found = [requests.file(f"{number}", b"here\n") for number in range(len(_FOLDERS))]
        for one, folder in zip(found, _FOLDERS, strict=True):
            one.path = f"{folder}/conformance/a-name-that-is-{'very-' * 40}long"
        found.append(requests.file(f".hidden/{_DEEP}/.file", b"here\n"))
        of = bundlepb.BootstrapBundle()
        of.os.files.extend(found)
        problems += await _in_it(session, info, requests.merged(base, bundlepb.BootstrapBundle(), info), of)
    if info.kubernetes_input == requests.PLAN:
        # Whoever takes plans needs nothing of what the bundle says of the machine.
        request = requests.merged(base, item, info)
        request.bundle.machine.role = clusterpb.ROLE_CONTROL_PLANE
        if (await session.subject.render(request)).ok:
            there = await compared(session, info, request)
            problems += [f"a control plane: {text}" for text in (*there.problems, *there.surplus)]
    for change in _KINDS:
        request = requests.merged(base, item, info)
        for name, value in change.items():
            setattr(request.target, name, value)
        got = await session.subject.render(request)
        if got.ok:
            kind = ", ".join(f"{name} {value}" for name, value in change.items())
            there = await compared(session, info, request)
            problems += [f"{kind}: {text}" for text in (*there.problems, *there.surplus)]
    all_hold(problems)


async def _in_it(
    session: Session,
    info: provisionerpb.FormatInfo,
    request: provisionerpb.RenderRequest,
    of: bundlepb.BootstrapBundle,
) -> list[str]:
    """Compare a request with these files in it, as they stand; what the format takes only elsewhere is left out."""
    prefixes = [prefix for feature in info.features if feature.id == "os.files" for prefix in feature.path_prefixes]
    taken = [file for file in of.os.files if not prefixes or any(file.path.startswith(prefix) for prefix in prefixes)]
    request.bundle.os.files.extend(taken)
    compute_features(request.bundle)
    got = await session.subject.render(request)
    if got.info.reason == "UNSUPPORTED_FEATURE":
        return []
    found = await compared(session, info, request)
    return [*found.problems, *found.surplus]


def _text(size: int) -> bytes:
    """Give text of lines that all differ, always the same."""
    lines = (hashlib.sha256(str(number).encode()).hexdigest().encode() for number in range(size // 65 + 1))
    return b"\n".join(lines)[:size]
