"""RND: what a server keeps of one request must not be found in the answer to another."""

import string

from slipway.conformance import requests
from slipway.conformance.check import Checks
from slipway.conformance.checks.meaning import compared
from slipway.conformance.outcome import Unverified, all_hold, expect
from slipway.conformance.session import Session
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()
_TURNS = (1, 2, 1)
_WORD = string.ascii_lowercase + string.digits
_OTHER = str.maketrans(_WORD, _WORD[1:] + _WORD[0])
"""Makes another token of a token."""


@CHECKS.check_format("RND-003")
async def in_turn(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Two bundles of one id, with secrets of one name and files of one path, get what is theirs, in turn."""
    problems: list[str] = []
    for turn in _TURNS:
        found = await compared(session, info, await _one_of_two(session, info, turn))
        problems += [f"of two bundles with the same names, in the one: {text}" for text in found.problems]
        unseen = found.unverified & {"os.files", "kubernetes.credentials"}
        if unseen and not problems:
            raise Unverified(f"the decoder does not see {', '.join(sorted(unseen))}")
    all_hold(list(dict.fromkeys(problems)))


@CHECKS.check_format("RND-017")
async def secret_of_another(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A secret that one bundle held is missing in the next one that only refers to it."""
    request = await _one_of_two(session, info, 1)
    await session.subject.rendered(request)
    if info.kubernetes_input == requests.INTENT:
        lacking = [secret for secret in request.bundle.secrets.secrets if secret.key != "token"]
    else:
        lacking = [secret for secret in request.bundle.secrets.secrets if secret.key != "turn"]
    del request.bundle.secrets.secrets[:]
    request.bundle.secrets.secrets.extend(lacking)
    got = await session.subject.render(request)
    expect(
        got.info.reason in {"BUNDLE_INVALID", "SECRET_MISSING", "CREDENTIALS_MISSING"},
        f"a secret is missing that an earlier bundle held, and it ended with {got.described()}",
    )


async def _one_of_two(session: Session, info: provisionerpb.FormatInfo, number: int) -> provisionerpb.RenderRequest:
    request = await session.base(info)
    if info.kubernetes_input == requests.INTENT:
        for secret in request.bundle.secrets.secrets:
            if secret.key == "token" and number > 1:
                secret.value = secret.value.decode().translate(_OTHER).encode()
        return request
    of = requests.files(
        requests.file("turn", b"turn %d " % number), secrets=[requests.secret("conformance", "turn", b"of %d" % number)]
    )
    segment = of.os.files[0].content.segments.add()
    segment.secret_ref.name, segment.secret_ref.key = "conformance", "turn"
    return requests.merged(request, of, info)
