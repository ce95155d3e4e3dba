"""No value of a request makes a server fail by a defect, and none of a caller's signs reach a terminal."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from google.protobuf import text_format
from google.protobuf.message import Message

from slipway.bootstrapper.bundles import give_bundle
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.explanation import explain
from slipway.bootstrapper.importing import import_document
from slipway.bootstrapper.provisioning_service import explain_provision, provision
from slipway.contract.control_characters import has_controls
from slipway.contract.errors import SlipwayError
from slipway.contract.features import compute_features
from slipway.contract.status import decode
from slipway.contract.validation import MAX_VIOLATIONS
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.embedded.provisioners import own_provisioners
from slipway.sdk import ProvisionerCore
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb
from tests.bootstrapper.extreme_values import extremes, inner, leaves, lists, name_of, put
from tests.bootstrapper.provision_requests import SPEC, request, service
from tests.bootstrapper.test_linear_work import SUBJECT

pytestmark = pytest.mark.long

Ask = Callable[[Any], Awaitable[object]]

_DEFECTS = frozenset({"INTERNAL", "PROVISIONER_FAILED", ""})
_SLOW = frozenset({"Explain", "ExplainProvision"})
"""They compile for every format: of the fields that they have in common with others, times are enough."""
_ENTRIES = 3000
"""More than the broken rules that are collected, and more than any list may have but the longest."""


def _subject() -> bootstrappb.Subject:
    return text_format.Parse(SUBJECT, bootstrappb.Subject())


async def _import(message: bootstrappb.ImportKubeadmConfigRequest) -> object:
    return import_document(message)


async def _render(message: provisionerpb.RenderRequest) -> object:
    compute_features(message.bundle)
    for provisioner in own_provisioners():
        core = ProvisionerCore(provisioner)
        message.format = core.info.formats[0].format
        await core.render(message)
    return None


def _calls() -> dict[str, tuple[Message, Ask]]:
    bootstrapper, own = embedded_bootstrapper(store=PlaceholderStore()), service()
    return {
        "Provision": (request(SPEC), lambda message: provision(own, message)),
        "ExplainProvision": (
            provisioningpb.ExplainProvisionRequest(spec=request(SPEC).spec),
            lambda message: explain_provision(own, message),
        ),
        "GetUserData": (bootstrappb.GetUserDataRequest(subject=_subject()), bootstrapper.user_data),
        "GetBundle": (
            bootstrappb.GetBundleRequest(subject=_subject()),
            lambda message: give_bundle(bootstrapper, message, identity=""),
        ),
        "Explain": (bootstrappb.ExplainRequest(subject=_subject()), lambda message: explain(bootstrapper, message)),
        "ImportKubeadmConfig": (bootstrappb.ImportKubeadmConfigRequest(), _import),
        "Render": (
            provisionerpb.RenderRequest(target=clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX)),
            _render,
        ),
    }


CALLS = ["Provision", "ExplainProvision", "GetUserData", "GetBundle", "Explain", "ImportKubeadmConfig", "Render"]


async def _refusal(ask: Ask, message: Message) -> SlipwayError | None:
    """Give why a request is refused; None when it is not."""
    try:
        await ask(message)
    except SlipwayError as error:
        return error
    return None


def _shown(error: SlipwayError) -> list[str]:
    """Give every text of an error as a client gets it."""
    failure = decode(error.to_status())
    texts = [failure.message, *failure.metadata.values()]
    for violation in failure.violations:
        texts += [violation.path, violation.description, violation.feature, violation.remedy]
    return texts


@pytest.mark.parametrize("name", CALLS)
async def test_an_extreme_value_is_taken_or_refused(name: str) -> None:
    """Each field of each request, with the ends of its type and what no grammar takes: never INTERNAL."""
    base, ask = _calls()[name]
    tried: set[str] = set()
    for way in leaves(base.DESCRIPTOR):
        if way[-1].full_name in tried or (name in _SLOW and len(way) > 1 and way[-1].message_type is None):
            continue
        tried.add(way[-1].full_name)
        for value in extremes(way[-1]):
            message = type(base)()
            message.CopyFrom(base)
            put(message, way, value)
            error = await _refusal(ask, message)
            if error is not None:
                assert error.reason not in _DEFECTS, name_of(way)
                assert not any(has_controls(text) for text in _shown(error)), name_of(way)


@pytest.mark.parametrize("name", CALLS)
async def test_a_list_of_empty_messages_is_refused_at_once(name: str) -> None:
    """However many rules are broken, few are collected; what compares entries is not reached."""
    base, ask = _calls()[name]
    tried: set[str] = set()
    for way in lists(base.DESCRIPTOR):
        if way[-1].full_name in tried:
            continue
        tried.add(way[-1].full_name)
        message = type(base)()
        message.CopyFrom(base)
        entries = getattr(inner(message, way[:-1]), way[-1].name)
        for _ in range(_ENTRIES):
            entries.add()
        error = await _refusal(ask, message)
        if error is not None and name != "Render":
            assert error.reason not in _DEFECTS, name_of(way)
            assert len(error.violations) <= 2 * MAX_VIOLATIONS, name_of(way)
