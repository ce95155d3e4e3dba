"""Every error that a Slipway service gives on purpose, as one tree of exceptions.

It stands apart from gRPC: pure code raises these anywhere, one interceptor maps them to a status, and
clients get the same classes back, so that nobody but the transport knows the transport. Reasons, codes and
what a caller must do come from the error table, proto/slipway/v1alpha1/errors.yaml; there is one class for
each reason:

    SlipwayError
    ├── Invalid (INVALID_ARGUMENT)
    │   ├── SpecInvalid
    │   ├── ImportInvalid
    │   ├── BundleInvalid
    │   ├── FeaturesNotComputed
    │   ├── BundleTooLarge
    │   └── RegistrationRejected
    ├── Precondition (FAILED_PRECONDITION)
    │   ├── UnsupportedFeature
    │   ├── UnsupportedFormat
    │   ├── UnsupportedTarget
    │   ├── KubernetesVersionUnsupported
    │   ├── UserDataTooLarge
    │   ├── AttachmentsNotAccepted
    │   ├── SecretExpired
    │   ├── SecretMissing
    │   ├── CredentialsMissing
    │   ├── AmbiguousProvisioner
    │   ├── NoManagementCluster
    │   ├── EndpointUnreachable
    │   └── CapabilitiesDisagree
    ├── Denied (PERMISSION_DENIED)
    │   ├── FeatureDenied
    │   ├── SecretsNotAllowed
    │   ├── ProvisionerNotAllowed
    │   ├── IdentityMismatch
    │   └── PermissionDenied
    ├── Absent (NOT_FOUND)
    │   ├── ProvisionerNotFound
    │   ├── MachineNotFound
    │   └── LeaseNotFound
    ├── Unavailable (UNAVAILABLE)
    │   ├── NoReadyProvisioner
    │   ├── UserDataNotReady
    │   ├── Draining
    │   └── Overloaded
    ├── TimedOut (DEADLINE_EXCEEDED)
    │   ├── ProvisionerTimeout
    │   └── DeadlineExceeded
    ├── ProvisionerFailed (INTERNAL)
    ├── Internal (INTERNAL)
    ├── Unauthenticated (UNAUTHENTICATED)
    ├── ConcurrentUpdate (ABORTED)
    ├── VersionSkew (UNIMPLEMENTED)
    └── ForeignStatus (any code: the transport's, or a reason newer than this code)

A message is for people: it names field paths and what to do. It never holds a value of the request, nor do
violations or metadata (field names, indices, feature ids and non-secret map keys are allowed).
"""

# ruff: noqa: N818  # the classes carry the names of the contract's reasons

from collections.abc import Iterable, Mapping
from typing import ClassVar, Self

from google.rpc.status_pb2 import Status

from services.contract.status import Failure, decode, encode
from services.contract.status import Violation as Violation  # noqa: PLC0414  # part of an error's API
from slipway.v1alpha1.reasons import COMMON_METADATA, RULES, Code, Reason

RETRYABLE_CODES = frozenset({Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.ABORTED, Code.RESOURCE_EXHAUSTED})
"""Codes of a status without a known reason that are worth a repeat with back-off."""


class SlipwayError(Exception):
    """A failure with a reason of the error table. Raise a subclass.

    Attributes:
        reason: reason of the table ("" only for a ForeignStatus without one).
        code: canonical status code of the reason.
        violations: fields that break a rule.
        metadata: the dynamic parts, under the keys that the table lists for the reason.
        retry_after: seconds to wait before a repeat, or None.
    """

    reason: str = ""
    by_reason: ClassVar[dict[str, type["SlipwayError"]]] = {}

    def __init__(
        self,
        message: str,
        *,
        violations: Iterable[Violation | tuple[str, str]] = (),
        metadata: Mapping[str, str] | None = None,
        retry_after: float | None = None,
    ) -> None:
        """Make the error.

        Raises:
            ValueError: a metadata key is not in the table: a defect of the caller's code.
        """
        super().__init__(message)
        self.message = message
        self.violations = tuple(v if isinstance(v, Violation) else Violation(*v) for v in violations)
        self.metadata = dict(metadata or {})
        self.retry_after = retry_after
        unknown = self._unknown_keys()
        if unknown:
            raise ValueError(f"{self.reason} has no metadata keys {unknown} in errors.yaml")

    def __init_subclass__(cls) -> None:
        """Enter the class under its reason."""
        super().__init_subclass__()
        if "reason" in vars(cls) and cls.reason:
            SlipwayError.by_reason[cls.reason] = cls

    @property
    def code(self) -> Code:
        """Canonical status code."""
        return RULES[Reason(self.reason)].code

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed after a while, nobody having changed it."""
        return RULES[Reason(self.reason)].retryable

    def to_status(self) -> Status:
        """Give the wire form, at most 4 KiB serialised."""
        return encode(
            Failure(
                code=self.code,
                message=self.message,
                reason=self.reason,
                metadata=self.metadata,
                violations=self.violations,
                retry_after=self.retry_after,
            )
        )

    @staticmethod
    def from_status(status: Status) -> "SlipwayError":
        """Give the error that a status means; a ForeignStatus where it has no reason that this code knows."""
        failure = decode(status)
        cls = SlipwayError.by_reason.get(failure.reason)
        if cls is None or RULES[Reason(failure.reason)].code != failure.code:
            return ForeignStatus(failure)
        error = cls(failure.message, violations=failure.violations, retry_after=failure.retry_after)
        # A newer peer may send keys that this table does not list yet; they are kept.
        error.metadata = dict(failure.metadata)
        return error

    def prefixed(self, origin: str) -> Self:
        """Say where the error comes from in front of the message, as a gateway does; all else stays."""
        self.message = f"{origin}: {self.message}"
        self.args = (self.message,)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r})"

    def _unknown_keys(self) -> list[str]:
        if not self.reason:
            raise ValueError(f"{type(self).__name__} has no reason: raise a subclass")
        return sorted(self.metadata.keys() - RULES[Reason(self.reason)].metadata - COMMON_METADATA)


def error_class(reason: Reason) -> type[SlipwayError]:
    """Give the class of a reason."""
    return SlipwayError.by_reason[reason]


class ForeignStatus(SlipwayError):
    """A status that is not of our table: made by the transport, or with a reason newer than this code."""

    def __init__(self, failure: Failure) -> None:
        self.reason = failure.reason
        self._code = Code(failure.code) if failure.code in Code.__members__.values() else Code.UNKNOWN
        super().__init__(
            failure.message,
            violations=failure.violations,
            metadata=failure.metadata,
            retry_after=failure.retry_after,
        )

    @property
    def code(self) -> Code:
        """Canonical status code; UNKNOWN for a number that is none."""
        return self._code

    @property
    def retryable(self) -> bool:
        """Judged by the code alone."""
        return self._code in RETRYABLE_CODES

    def _unknown_keys(self) -> list[str]:
        return []


class Invalid(SlipwayError):
    """The request breaks a rule; repeating it is of no use."""


class SpecInvalid(Invalid):
    """The spec breaks a rule of its schema; BadRequest names the fields as the user wrote them."""

    reason = Reason.SPEC_INVALID


class ImportInvalid(Invalid):
    """A foreign document (such as KubeadmConfig) cannot be read or carried over; BadRequest names fields."""

    reason = Reason.IMPORT_INVALID


class BundleInvalid(Invalid):
    """A field of bundle or request is missing, malformed or over its limit; BadRequest names it."""

    reason = Reason.BUNDLE_INVALID


class FeaturesNotComputed(Invalid):
    """The bundle does not say that its required features were computed."""

    reason = Reason.FEATURES_NOT_COMPUTED


class BundleTooLarge(Invalid):
    """The serialised bundle is larger than the contract allows."""

    reason = Reason.BUNDLE_TOO_LARGE


class RegistrationRejected(Invalid):
    """The registration, or the information from the dial-back, breaks a rule; BadRequest names the fields."""

    reason = Reason.REGISTRATION_REJECTED


class Precondition(SlipwayError):
    """The request is well formed, but the state of the world or the abilities of the other side forbid it."""


class UnsupportedFeature(Precondition):
    """The bundle needs a feature that provisioner, engine or lowering do not have for this target."""

    reason = Reason.UNSUPPORTED_FEATURE


class UnsupportedFormat(Precondition):
    """The provisioner does not serve the asked format, or not the asked version of it."""

    reason = Reason.UNSUPPORTED_FORMAT


class UnsupportedTarget(Precondition):
    """The operating system, architecture, infrastructure or role of the target is not supported."""

    reason = Reason.UNSUPPORTED_TARGET


class KubernetesVersionUnsupported(Precondition):
    """The Kubernetes version is outside the range of the engine or the provisioner."""

    reason = Reason.KUBERNETES_VERSION_UNSUPPORTED


class NoManagementCluster(Precondition):
    """The request names a Machine, and this server runs in no management cluster."""

    reason = Reason.NO_MANAGEMENT_CLUSTER


class UserDataTooLarge(Precondition):
    """The user data is larger than the target's infrastructure accepts, compressed where it may be."""

    reason = Reason.USER_DATA_TOO_LARGE


class AttachmentsNotAccepted(Precondition):
    """The format needs companion files and the caller has said that it cannot place them."""

    reason = Reason.ATTACHMENTS_NOT_ACCEPTED


class SecretExpired(Precondition):
    """A secret of the bundle, such as a bootstrap token, has expired."""

    reason = Reason.SECRET_EXPIRED


class SecretMissing(Precondition):
    """A secret reference points at nothing, or the store holds no value for it."""

    reason = Reason.SECRET_MISSING


class CredentialsMissing(Precondition):
    """A cluster credential (CA, key, token) that the role needs is not there and may not be made here."""

    reason = Reason.CREDENTIALS_MISSING


class AmbiguousProvisioner(Precondition):
    """More than one allowed provisioner name serves the format and the spec pins none."""

    reason = Reason.AMBIGUOUS_PROVISIONER


class EndpointUnreachable(Precondition):
    """The registry dialled the announced endpoint and got no usable answer in time."""

    reason = Reason.ENDPOINT_UNREACHABLE


class CapabilitiesDisagree(Precondition):
    """Another instance of the same name and version advertises something else."""

    reason = Reason.CAPABILITIES_DISAGREE


class Denied(SlipwayError):
    """The operator's settings or the caller's identity forbid it."""


class FeatureDenied(Denied):
    """The operator of this server denies a feature that the spec uses."""

    reason = Reason.FEATURE_DENIED


class SecretsNotAllowed(Denied):
    """The caller asked for secret material and this server, or this identity, may not give or receive it."""

    reason = Reason.SECRETS_NOT_ALLOWED


class ProvisionerNotAllowed(Denied):
    """The provisioner's name is not in the operator's allow-list, so it gets no bundle and no lease."""

    reason = Reason.PROVISIONER_NOT_ALLOWED


class IdentityMismatch(Denied):
    """The TLS identity of a peer does not own the provisioner name that it, or its endpoint, claims."""

    reason = Reason.IDENTITY_MISMATCH


class PermissionDenied(Denied):
    """The caller's identity may not make this call."""

    reason = Reason.PERMISSION_DENIED


class Absent(SlipwayError):
    """What the request names does not exist here."""


class ProvisionerNotFound(Absent):
    """No provisioner of the pinned name (and version, where pinned) is registered."""

    reason = Reason.PROVISIONER_NOT_FOUND


class MachineNotFound(Absent):
    """The Machine is not there, or Slipway does not bootstrap it."""

    reason = Reason.MACHINE_NOT_FOUND


class LeaseNotFound(Absent):
    """The registry does not hold this lease; it expired, was replaced, or the registry was restarted."""

    reason = Reason.LEASE_NOT_FOUND


class Unavailable(SlipwayError):
    """Nobody can serve it now; back off and try again."""


class UserDataNotReady(Unavailable):
    """The Machine is there, and its user data is not stored yet; the condition of its config says why."""

    reason = Reason.USER_DATA_NOT_READY


class NoReadyProvisioner(Unavailable):
    """Provisioners that would serve exist, or may come, but none is READY now."""

    reason = Reason.NO_READY_PROVISIONER


class Draining(Unavailable):
    """The server is shutting down and takes no new work."""

    reason = Reason.DRAINING


class Overloaded(Unavailable):
    """The server has as many calls in flight as it takes."""

    reason = Reason.OVERLOADED


class TimedOut(SlipwayError):
    """Time ran out; every call of the contract is safe to repeat."""


class ProvisionerTimeout(TimedOut):
    """Every tried instance of the provisioner let the render deadline pass."""

    reason = Reason.PROVISIONER_TIMEOUT


class DeadlineExceeded(TimedOut):
    """The call's deadline, or the server's own limit for it, passed before the answer was ready."""

    reason = Reason.DEADLINE_EXCEEDED


class ProvisionerFailed(SlipwayError):
    """A provisioner broke the contract (wrong tag, hash, format or size) or failed with no reason."""

    reason = Reason.PROVISIONER_FAILED


class Internal(SlipwayError):
    """A defect of the server; the details are in its log under error_id."""

    reason = Reason.INTERNAL


class Unauthenticated(SlipwayError):
    """The call carries no identity that this server accepts."""

    reason = Reason.UNAUTHENTICATED


class ConcurrentUpdate(SlipwayError):
    """Another writer changed the same object first."""

    reason = Reason.CONCURRENT_UPDATE


class VersionSkew(SlipwayError):
    """The two sides share no major version of the contract, or the call does not exist in this version."""

    reason = Reason.VERSION_SKEW
