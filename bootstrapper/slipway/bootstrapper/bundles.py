"""Gives bundles to people: neutral or lowered, and without secrets unless the operator allows them to this caller."""

from slipway.bootstrapper.assembly.membership import complete_membership
from slipway.bootstrapper.assembly.subject import check
from slipway.bootstrapper.assembly.subject_rules import check_credentials
from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.placeholders import user_placeholders
from slipway.bootstrapper.problems.places import place_diagnostics
from slipway.contract.errors import SecretsNotAllowed
from slipway.contract.features import compute_features
from slipway.contract.redaction import redacted_with_sizes
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb


async def give_bundle(
    bootstrapper: Bootstrapper, request: bootstrappb.GetBundleRequest, *, identity: str
) -> bootstrappb.GetBundleResponse:
    """Give the bundle that a request asks for; `identity` is the caller's, proved by TLS.

    Without secrets nothing is generated and nothing needed: placeholders of the same size stand for them, and every
    secret value, file content and the like is replaced by its size.

    Raises:
        SecretsNotAllowed: secrets were asked for and the caller is not on the operator's list.
        SlipwayError: as GetUserData, as far as a bundle needs it.
    """
    with_secrets = request.include_secrets
    if with_secrets and (not identity or identity not in bootstrapper.policy.secrets_for):
        raise SecretsNotAllowed("this server does not give bundles with secrets to this caller")
    check_credentials(request.credentials)
    store = None if with_secrets else PlaceholderStore()
    complete_membership(request.subject.spec, request.subject.machine.name)
    credentials = request.credentials if with_secrets else user_placeholders(request.subject.spec)
    response = bootstrappb.GetBundleResponse()
    if request.lowered:
        prepared = await bootstrapper.prepare(request.subject, credentials, store=store)
        # What the provisioner refuses is lowered as well: the bundle that people see is the one that is sent.
        await bootstrapper.render(prepared, accept_attachments=True, validate_only=True)
        response.bundle.CopyFrom(prepared.compiled.bundle)
        response.diagnostics.extend(prepared.all_diagnostics())
    else:
        subject = check(request.subject)
        bundle, _, diagnostics = await bootstrapper.neutral(subject, None, credentials, store=store)
        compute_features(bundle)
        response.bundle.CopyFrom(bundle)
        response.diagnostics.extend(place_diagnostics(diagnostics, subject.layers))
    if not with_secrets:
        response.bundle.CopyFrom(redacted_with_sizes(response.bundle))
    return response
