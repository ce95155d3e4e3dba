"""ProvisioningService: provisioning for bootstrap providers that make their own plan.

It adds nothing but the wire, and remarks on words of a request that are valid, and that nothing here knows: they may be
misspelt.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from slipway.bootstrapper.assembly.own_plan import ANY_MACHINE, check_provision
from slipway.bootstrapper.assembly.subject import CheckedSubject
from slipway.bootstrapper.beside import beside
from slipway.bootstrapper.bootstrapper import Bootstrapper, Carrier
from slipway.bootstrapper.delivery.infrastructure import infrastructures
from slipway.bootstrapper.documents.feature_names import feature_names
from slipway.bootstrapper.explanation import explain_subject
from slipway.bootstrapper.os_profiles import ProfileTable
from slipway.bootstrapper.problems.request_words import in_words_of, words_of_provision
from slipway.contract.unknown import check_request
from slipway.rpc import ServicerContext
from slipway.rpc.server import Service
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb
from slipway.v1alpha1.provisioning_service_pb2_grpc import (
    ProvisioningServiceServicer,
    add_ProvisioningServiceServicer_to_server,
)


class ProvisioningServicer(ProvisioningServiceServicer):
    """Answers both calls. Nothing of a cluster is read, so a caller is held to no namespace."""

    def __init__(self, bootstrapper: Bootstrapper) -> None:
        """Serve a bootstrapper; its credentials store is never asked."""
        self._bootstrapper = bootstrapper

    async def Provision(  # noqa: N802  # the name is the contract's
        self, request: provisioningpb.ProvisionRequest, context: ServicerContext
    ) -> provisioningpb.ProvisionResponse:
        """See provisioning_service.proto."""
        del context
        return await provision(self._bootstrapper, request)

    async def ExplainProvision(  # noqa: N802  # the name is the contract's
        self, request: provisioningpb.ExplainProvisionRequest, context: ServicerContext
    ) -> provisioningpb.ExplainProvisionResponse:
        """See provisioning_service.proto."""
        del context
        check_request(request)
        return await explain_provision(self._bootstrapper, request)


def provisioning_service(bootstrapper: Bootstrapper) -> Service:
    """Give the service for a server of a bootstrapper's."""
    return Service.of(
        provisioningpb.DESCRIPTOR.services_by_name["ProvisioningService"],
        add_ProvisioningServiceServicer_to_server,
        ProvisioningServicer(bootstrapper),
    )


async def provision(
    bootstrapper: Bootstrapper, request: provisioningpb.ProvisionRequest
) -> provisioningpb.ProvisionResponse:
    """Give the user data of a machine whose plan the caller brings.

    Raises:
        SlipwayError: as Bootstrapper.user_data(); fields are named as they stand in the request.
    """
    words = words_of_provision()
    with in_words_of(words):
        subject = await _checked(bootstrapper, request)
        answer = await bootstrapper.user_data_of(subject, request.secrets, Carrier.of(request))
    words.place(answer.diagnostics)
    # The two answers have the same fields, by number.
    return provisioningpb.ProvisionResponse.FromString(answer.SerializeToString())


async def explain_provision(
    bootstrapper: Bootstrapper, request: provisioningpb.ExplainProvisionRequest
) -> provisioningpb.ExplainProvisionResponse:
    """Give the matrix of the spec's fields and all formats that are ready.

    Raises:
        SpecInvalid: the spec itself is not sound.
    """
    provision = provisioningpb.ProvisionRequest(spec=request.spec, machine_name=request.machine_name or ANY_MACHINE)
    words = words_of_provision(request.DESCRIPTOR)
    with in_words_of(words):
        subject = await _checked(bootstrapper, provision)
        answer = await explain_subject(bootstrapper, subject)
    words.place(answer.diagnostics)
    for column in answer.columns:
        column.refusal = words.text(column.refusal)
    for row in answer.rows:
        row.origin.path = words.path(row.origin.path)
        for cell in row.cells:
            cell.reason, cell.remedy = words.text(cell.reason), words.text(cell.remedy)
    return provisioningpb.ExplainProvisionResponse.FromString(answer.SerializeToString())


async def _checked(bootstrapper: Bootstrapper, request: provisioningpb.ProvisionRequest) -> CheckedSubject:
    subject = await beside(request.ByteSize(), partial(check_provision, request))
    doubted = _remarks(request.spec, bootstrapper.compiler.profiles)
    return replace(subject, diagnostics=(*subject.diagnostics, *doubted))


def _remarks(spec: provisioningpb.ProvisioningSpec, profiles: ProfileTable) -> Iterator[diagnosticpb.Diagnostic]:
    """Give a warning for each unknown optional feature or infrastructure, and for a distribution of another family."""
    for index, name in enumerate(spec.optional_features):
        if name not in feature_names() and not name.startswith("ext."):
            message = "is the name of no feature that this server knows, so it allows nothing to be left out"
            yield _warning("OPTIONAL_FEATURE_UNKNOWN", f"spec.optionalFeatures[{index}]", message)
    target = spec.target
    if target.infrastructure and target.infrastructure not in infrastructures():
        message = "is no infrastructure that this server knows: how much user data it takes is not known either"
        yield _warning("INFRASTRUCTURE_UNKNOWN", "spec.target.infrastructure", message)
    family = profiles.family(target.distribution)
    if clusterpb.OS_FAMILY_UNSPECIFIED not in {family, target.os_family} and family != target.os_family:
        message = "is a distribution of another family of operating systems than osFamily says"
        yield _warning("DISTRIBUTION_DOUBTED", "spec.target.distribution", message)


def _warning(code: str, path: str, message: str) -> diagnosticpb.Diagnostic:
    return diagnosticpb.Diagnostic(
        severity=diagnosticpb.SEVERITY_WARNING,
        code=code,
        message=f"{path} {message}",
        field_path=path.replace("spec.target", "machine.target") if "target" in path else "",
        origin=diagnosticpb.Origin(path=path),
    )
