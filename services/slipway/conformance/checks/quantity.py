"""RND: many items at once, for what is left out of one in ten, or behind a limit that nobody has told of."""

import hashlib

from slipway.conformance import requests
from slipway.conformance.check import Checks
from slipway.conformance.checks.meaning import compared
from slipway.conformance.outcome import Unverified, all_hold
from slipway.conformance.session import Session
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()
FILES, LABELS, LARGE = 60, 40, 100_000
_MODES = (0o644, 0o600, 0o755, 0o440, 0o400)
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


def _text(size: int) -> bytes:
    """Give text of lines that all differ, always the same."""
    lines = (hashlib.sha256(str(number).encode()).hexdigest().encode() for number in range(size // 65 + 1))
    return b"\n".join(lines)[:size]
