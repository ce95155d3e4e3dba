"""Mutants that do not understand what they must."""

from collections.abc import Iterator
from typing import Any

from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status

from slipway.contract.features import compute_features
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.provisioners.windows.provisioner import WindowsProvisioner
from slipway.v1alpha1 import content_pb2 as contentpb
from tests.services.conformance.bent import Bent, Request, Response, Servicer, abort
from tests.services.conformance.mutants.bending import metadata, said, without
from tests.services.conformance.mutants.mutant import ALL, Info, Mutant


def _drop(info: Info, *ids: str) -> None:
    for served in info.formats:
        kept = [support for support in served.features if support.id not in ids]
        del served.features[:]
        served.features.extend(kept)


async def _trusting(request: Request, _context: Any) -> None:
    """Believe that nothing is asked for but what is declared: look neither at the list nor at the mark."""
    del request.bundle.required_features[:]
    request.bundle.features_computed = True


async def _only_known(request: Request, _context: Any) -> None:
    """Look at known ids only, as if an unknown one could not matter."""
    known = {support.id for support in CloudInit().formats()[0].features} | {"os.sysctls"}
    kept = [use for use in request.bundle.required_features if use.id in known or use.id.startswith("kubernetes")]
    del request.bundle.required_features[:]
    request.bundle.required_features.extend(kept)


async def _by_prefix(request: Request, _context: Any) -> None:
    """Take a declared id for all ids below it."""
    declared = {support.id for support in CloudInit().formats()[0].features}
    kept = [
        use for use in request.bundle.required_features if not any(use.id.startswith(f"{id_}.") for id_ in declared)
    ]
    del request.bundle.required_features[:]
    request.bundle.required_features.extend(kept)


async def _without_intent(request: Request, _context: Any) -> None:
    """Overlook the intent."""
    if request.bundle.HasField("intent"):
        request.bundle.ClearField("intent")
        compute_features(request.bundle)


async def _without_limits(request: Request, _context: Any) -> None:
    """Overlook what is outside of the bounds."""
    request.bundle.os.packages.ClearField("update")
    del request.bundle.os.swaps[1:]
    compute_features(request.bundle)


async def _mended(request: Request, _context: Any) -> None:
    """Guess what unknown values of enums mean."""
    for file in request.bundle.os.files:
        for segment in file.content.segments:
            if segment.encoding > contentpb.SPLICE_ENCODING_BASE64:
                segment.ClearField("encoding")


async def _demanding(servicer: Servicer, request: Request, context: Any) -> Response:
    """Render only what has users."""
    if not request.bundle.os.users:
        status = Status(code=9, message="needs a user")
        status.details.add().Pack(ErrorInfo(reason="UNSUPPORTED_FEATURE", domain="slipway.dev"))
        await abort(context, status)
    return await servicer.rendered(request, context)


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant(
        "no core profile", ("FEA-001.core-profile",), said(lambda info: _drop(info, "plan.entrypoint")), ("EXE",)
    )
    yield Mutant("more than was asked for", ("FEA-002.smallest-bundle",), Bent(call=_demanding), ALL)
    yield Mutant("a list that nobody looks at", ("FEA-003.undeclared", "FEA-003.unheard-of"), Bent(before=_trusting))
    yield Mutant("features that are not known do not matter", ("FEA-003.unheard-of",), Bent(before=_only_known))
    yield Mutant(
        "refusals that do not name features", ("FEA-004.names-all",),
        Bent(error=metadata("features", lambda said: said.partition(",")[0])),
    )  # fmt: skip
    yield Mutant("refusals that name no fields", ("FEA-004.names-all",), Bent(error=without(BadRequest)), ("ERR",))
    yield Mutant("a mark that nobody looks at", ("FEA-005.not-computed",), Bent(before=_trusting))
    yield Mutant("a declared id covers those below it", ("FEA-006.neighbours",), Bent(before=_by_prefix))
    yield Mutant("bounds that nobody looks at", ("FEA-007.outside-of-bounds",), Bent(before=_without_limits))
    yield Mutant("an intent that is overlooked", ("FEA-008.other-form",), Bent(before=_without_intent))
    yield Mutant(
        "a feature that is declared and refused", ("FEA-009.extended-features",),
        said(lambda info: info.formats[0].features.add(id="os.sysctls")),
    )  # fmt: skip
    yield Mutant(
        "refusals without the item", ("FEA-009.extended-features",),
        Bent(provisioner=WindowsProvisioner, error=_vague),
    )  # fmt: skip
    yield Mutant("an unknown encoding is taken for raw", ("FEA-010.unknown-enum-value",), Bent(before=_mended))
    yield Mutant("an unknown execution is taken for the usual one", ("FEA-010.unknown-enum-value",), Bent(before=_run))


async def _run(request: Request, _context: Any) -> None:
    request.bundle.plan.entrypoint.ClearField("execution")


def _vague(_request: Request, status: Status) -> None:
    for detail in status.details:
        if detail.Is(BadRequest.DESCRIPTOR):
            bad = BadRequest()
            detail.Unpack(bad)
            for violation in bad.field_violations:
                violation.field = violation.field.partition(".")[0]
            detail.Pack(bad)
