"""The two calls of the contract, without any transport.

Both the gRPC servicer and the embedded mode call this one object, so a provisioner cannot behave differently
in the two. Its errors are SlipwayErrors; it does no I/O.
"""

import asyncio
import hashlib
from collections.abc import Iterable

from google.protobuf.timestamp_pb2 import Timestamp

from slipway.contract.content import SecretIndex
from slipway.contract.errors import (
    AttachmentsNotAccepted,
    BundleInvalid,
    FeaturesNotComputed,
    SlipwayError,
    UnsupportedFormat,
    UnsupportedTarget,
    Violation,
)
from slipway.contract.features import Supports, by_id, undeclared, unsupported
from slipway.contract.secret_references import references
from slipway.contract.times import time_violations
from slipway.contract.validation import bounded, violations
from slipway.sdk.limits import MAX_BUNDLE_BYTES, check_bundle_size, check_path_depth, check_user_data_size
from slipway.sdk.provisioner import Provisioner, RenderContext, UserData
from slipway.sdk.refusal import Refusal, unsupported_feature
from slipway.sdk.unknown_values import unknown_values
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CONTRACT_VERSION = "v1alpha1"

LARGE_BUNDLE = MAX_BUNDLE_BYTES // 16
"""Bundles above this many bytes are rendered beside the event loop, which answers health checks meanwhile."""


class ProvisionerCore:
    """A provisioner behind the contract: every check that it asks for, around the author's `render`."""

    def __init__(self, provisioner: Provisioner) -> None:
        """Read the provisioner's formats once.

        Raises:
            ValueError: it declares no format, or one twice.
        """
        self._provisioner = provisioner
        formats = list(provisioner.formats())
        self._formats = {info.format: info for info in formats}
        self._features = {info.format: by_id(info.features) for info in formats}
        if not formats or len(self._formats) != len(formats):
            raise ValueError(f"{provisioner.name} must declare at least one format, and each only once")
        self._info = provisionerpb.GetProvisionerInfoResponse(
            name=provisioner.name,
            implementation_version=provisioner.version,
            contract_version=CONTRACT_VERSION,
            formats=formats,
            features_advertised=True,
            documentation_url=provisioner.documentation_url,
        )

    @property
    def info(self) -> provisionerpb.GetProvisionerInfoResponse:
        """What the provisioner says of itself."""
        return self._info

    async def get_info(
        self, request: provisionerpb.GetProvisionerInfoRequest | None = None
    ) -> provisionerpb.GetProvisionerInfoResponse:
        """Answer GetProvisionerInfo. `request` may be left out: nothing depends on it."""
        del request
        return self._info

    async def render(self, request: provisionerpb.RenderRequest) -> provisionerpb.RenderResponse:
        """Answer Render.

        Raises:
            SlipwayError: the bundle is refused, with the reason that the error table has for it.
        """
        if request.bundle.ByteSize() > LARGE_BUNDLE:
            return await asyncio.to_thread(self.render_now, request)
        return self.render_now(request)

    def render_now(self, request: provisionerpb.RenderRequest) -> provisionerpb.RenderResponse:
        """Answer Render without an event loop; see `render`."""
        context = self.check(request)
        return self.answer(request, context, self._call(request, context))

    def check(self, request: provisionerpb.RenderRequest) -> RenderContext:
        """Make every check that comes before the author's `render`; give what `render` may use.

        Raises:
            SlipwayError: the request is refused.
        """
        info = self._format(request.format)
        check_bundle_size(request.bundle)
        _check_features(request.bundle, info.format, self._features[info.format])
        _check_target(request.target, info)
        _check_values(request.bundle)
        _check_arguments(request.bundle)
        check_path_depth(request.bundle)
        return RenderContext(format_info=info, secrets=SecretIndex(request.bundle.secrets))

    def answer(
        self, request: provisionerpb.RenderRequest, context: RenderContext, user_data: UserData
    ) -> provisionerpb.RenderResponse:
        """Give the answer that the author's `render` leads to: all of its fields, or the refusals in the context.

        Raises:
            SlipwayError: something was refused, is too large, or needs attachments that the caller does not take.
        """
        info = context.format
        if context.refusals:
            raise unsupported_feature(context.refusals, format_id=info.format)
        _check_references(request.bundle, context.secrets)
        check_user_data_size(user_data.content, limit=request.max_user_data_bytes, bundle=request.bundle)
        attachments = _attachments(user_data, info=info, accepted=request.accept_attachments)
        response = provisionerpb.RenderResponse(
            request_tag=request.request_tag,
            format=info.format,
            media_type=info.media_type,
            diagnostics=context.diagnostics,
            implementation_version=self._info.implementation_version,
        )
        expiry = _earliest_expiry(request.bundle)
        if expiry is not None:
            response.expire_time.CopyFrom(expiry)
        if not request.validate_only:
            response.user_data = user_data.content
            response.sha256 = hashlib.sha256(user_data.content).digest()
            response.attachments.extend(attachments)
        return response

    def _format(self, format_id: str) -> provisionerpb.FormatInfo:
        try:
            return self._formats[format_id]
        except KeyError:
            raise UnsupportedFormat(
                f"{self._info.name} does not serve the format that was asked for",
                violations=[Violation("format", "is not one of the formats that are served")],
                metadata={"served": ",".join(sorted(self._formats))},
            ) from None

    def _call(self, request: provisionerpb.RenderRequest, context: RenderContext) -> UserData:
        try:
            return self._provisioner.render(request.bundle, request.target, context)
        except SlipwayError:
            raise
        except Exception:
            blame_the_bundle(request.bundle)
            raise


def blame_the_bundle(bundle: bundlepb.BootstrapBundle) -> None:
    """Say after a failure whether the bundle is the cause.

    A bundle is checked by its builder, and a provisioner may rely on that. Only when something went wrong is it
    worth the time to look.

    Raises:
        BundleInvalid: it breaks rules of its schema.
    """
    broken = bounded(violations(bundle))
    if broken:
        raise BundleInvalid("the bundle breaks rules of its schema", violations=broken) from None


def _check_features(bundle: bundlepb.BootstrapBundle, format_id: str, features: Supports) -> None:
    """Refuse what the format does not declare: by the bundle's own list and by what is really set in it."""
    if not bundle.features_computed:
        raise FeaturesNotComputed(
            "compute required_features from the bundle's content and set features_computed",
            violations=[Violation("features_computed", "must be true")],
        )
    refusals = [
        Refusal(unsupported_use.use.path, unsupported_use.use.id, unsupported_use.why)
        for unsupported_use in unsupported(bundle, features)
    ]
    refused = {refusal.feature for refusal in refusals}
    # Ids that are younger than this program are found only in the list.
    unknown = set(undeclared(bundle.required_features, features.values())) - refused
    for use in bundle.required_features:
        if use.id in unknown:
            paths = list(use.paths) or ["required_features"]
            refusals.extend(Refusal(path, use.id, "is not supported") for path in paths)
    if refusals:
        raise unsupported_feature(refusals, format_id=format_id)


def _check_target(target: clusterpb.Target, info: provisionerpb.FormatInfo) -> None:
    if target.os_family == clusterpb.OS_FAMILY_UNSPECIFIED:
        raise BundleInvalid(
            "the target must be completely resolved",
            violations=[Violation("target.os_family", "is required")],
        )
    if target.os_family not in info.os_families:
        served = sorted(clusterpb.OsFamily.Name(family) for family in info.os_families)
        raise UnsupportedTarget(
            f"{info.format} does not serve this family of operating systems",
            violations=[Violation("target.os_family", "is not served")],
            metadata={"supported": ",".join(served)},
        )


def _check_values(bundle: bundlepb.BootstrapBundle) -> None:
    """Refuse values of enums that are unknown here: what they mean would be a guess. Refuse times that are invalid."""
    unknown = [
        Violation(path, "is a value that this version of the contract does not have") for path in unknown_values(bundle)
    ]
    if unknown:
        raise BundleInvalid("the bundle has values that are not known", violations=unknown)
    times = bounded(time_violations(bundle))
    if times:
        raise BundleInvalid("the bundle has points in time or durations that are none", violations=times)


def _check_arguments(bundle: bundlepb.BootstrapBundle) -> None:
    """Refuse arguments with a NUL character: the program would see only what is before it."""
    broken = [
        Violation(f"plan.entrypoint.argv[{index}]", "cannot hold a NUL character")
        for index, word in enumerate(bundle.plan.entrypoint.argv)
        if "\0" in word
    ]
    if broken:
        raise BundleInvalid("the entry point cannot be started with these arguments", violations=broken)


def _check_references(bundle: bundlepb.BootstrapBundle, secrets: SecretIndex) -> None:
    """Refuse references to secrets that the bundle lacks, wherever they stand: also where the machine needs none."""
    dangling = [
        Violation(path, "refers to a secret that is not in secrets")
        for path, reference in references(bundle)
        if reference not in secrets
    ]
    if dangling:
        raise BundleInvalid("the bundle refers to a secret that it does not hold", violations=dangling)


def _attachments(
    user_data: UserData, *, info: provisionerpb.FormatInfo, accepted: bool
) -> list[provisionerpb.Attachment]:
    if user_data.attachments and not info.emits_attachments:
        raise AssertionError(f"{info.format} made attachments although it does not declare them")
    needed = sorted(attachment.name for attachment in user_data.attachments if not attachment.operator_only)
    if needed and not accepted:
        raise AttachmentsNotAccepted(
            f"{info.format} needs companion files beside the user data",
            violations=[Violation("accept_attachments", "must be true for this format")],
            metadata={"attachments": ",".join(needed)},
        )
    return [_hashed(attachment) for attachment in user_data.attachments]


def _hashed(attachment: provisionerpb.Attachment) -> provisionerpb.Attachment:
    copy = provisionerpb.Attachment()
    copy.CopyFrom(attachment)
    copy.sha256 = hashlib.sha256(attachment.content).digest()
    return copy


def _earliest_expiry(bundle: bundlepb.BootstrapBundle) -> Timestamp | None:
    expiring: Iterable[Timestamp] = (
        secret.expire_time for secret in bundle.secrets.secrets if secret.HasField("expire_time")
    )
    return min(expiring, key=lambda time: (time.seconds, time.nanos), default=None)
