"""The exceptions of the error table. Generated from proto/slipway/v1alpha1/errors.yaml; do not edit.

SlipwayError
├── Invalid (INVALID_ARGUMENT)
│   ├── SpecInvalid
│   ├── ImportInvalid
│   ├── BundleInvalid
│   ├── FeaturesNotComputed
│   ├── BundleTooLarge
│   └── RegistrationRejected
├── Precondition (FAILED_PRECONDITION)
│   ├── NoManagementCluster
│   ├── UnsupportedFeature
│   ├── UnsupportedFormat
│   ├── UnsupportedTarget
│   ├── KubernetesVersionUnsupported
│   ├── UserDataTooLarge
│   ├── ArtifactRejected
│   ├── AttachmentsNotAccepted
│   ├── SecretExpired
│   ├── SecretMissing
│   ├── CredentialsMissing
│   ├── AmbiguousProvisioner
│   ├── EndpointUnreachable
│   └── CapabilitiesDisagree
├── Denied (PERMISSION_DENIED)
│   ├── FeatureDenied
│   ├── SecretsNotAllowed
│   ├── ProvisionerNotAllowed
│   ├── IdentityMismatch
│   └── PermissionDenied
├── Absent (NOT_FOUND)
│   ├── MachineNotFound
│   ├── ProvisionerNotFound
│   ├── LeaseNotFound
│   └── ReportNotFound
├── Unavailable (UNAVAILABLE)
│   ├── UserDataNotReady
│   ├── NoReadyProvisioner
│   ├── ReportsUnavailable
│   ├── Draining
│   └── Overloaded
├── TimedOut (DEADLINE_EXCEEDED)
│   ├── ProvisionerTimeout
│   └── DeadlineExceeded
├── ProvisionerFailed (INTERNAL)
├── Unauthenticated (UNAUTHENTICATED)
├── ConcurrentUpdate (ABORTED)
├── VersionSkew (UNIMPLEMENTED)
├── Internal (INTERNAL)
└── ForeignStatus (any code: the transport's, or a reason newer than this code)
"""

# ruff: noqa: E501, N818, PLC0414  # the names of the contract's reasons, and what else an importer of errors needs

from slipway.contract.slipway_error import ForeignStatus as ForeignStatus
from slipway.contract.slipway_error import SlipwayError as SlipwayError
from slipway.contract.slipway_error import Violation as Violation
from slipway.contract.slipway_error import error_class as error_class
from slipway.v1alpha1.reasons import Reason


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


class NoManagementCluster(Precondition):
    """The request names a Machine, and this server runs in no management cluster."""

    reason = Reason.NO_MANAGEMENT_CLUSTER


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


class UserDataTooLarge(Precondition):
    """The user data is larger than the target's infrastructure accepts, compressed where it may be."""

    reason = Reason.USER_DATA_TOO_LARGE


class ArtifactRejected(Precondition):
    """The spec asks for a program whose release this server does not hand out; BadRequest names the field."""

    reason = Reason.ARTIFACT_REJECTED


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
    """The operator does not allow the provisioner's name, so it gets no bundle and no lease; or not its version, so it gets no bundle."""

    reason = Reason.PROVISIONER_NOT_ALLOWED


class IdentityMismatch(Denied):
    """The TLS identity of a peer does not own the provisioner name that it, or its endpoint, claims."""

    reason = Reason.IDENTITY_MISMATCH


class PermissionDenied(Denied):
    """The caller's identity may not make this call."""

    reason = Reason.PERMISSION_DENIED


class Absent(SlipwayError):
    """What the request names does not exist here."""


class MachineNotFound(Absent):
    """The Machine is not there, or Slipway does not bootstrap it."""

    reason = Reason.MACHINE_NOT_FOUND


class ProvisionerNotFound(Absent):
    """No provisioner of the pinned name (and version, where pinned) is registered."""

    reason = Reason.PROVISIONER_NOT_FOUND


class LeaseNotFound(Absent):
    """The registry does not hold this lease; it expired, was replaced, or the registry was restarted."""

    reason = Reason.LEASE_NOT_FOUND


class ReportNotFound(Absent):
    """There is no report, or no log bundle, of this machine and bundle."""

    reason = Reason.REPORT_NOT_FOUND


class Unavailable(SlipwayError):
    """It cannot be served now; retry with back-off."""


class UserDataNotReady(Unavailable):
    """The Machine is there, and its user data is not stored yet; the condition of its config says why."""

    reason = Reason.USER_DATA_NOT_READY


class NoReadyProvisioner(Unavailable):
    """Provisioners that would serve exist, or may come, but none is READY now."""

    reason = Reason.NO_READY_PROVISIONER


class ReportsUnavailable(Unavailable):
    """The store of reports does not answer."""

    reason = Reason.REPORTS_UNAVAILABLE


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


class Unauthenticated(SlipwayError):
    """The call carries no identity that this server accepts."""

    reason = Reason.UNAUTHENTICATED


class ConcurrentUpdate(SlipwayError):
    """Another writer changed the same object first."""

    reason = Reason.CONCURRENT_UPDATE


class VersionSkew(SlipwayError):
    """The two sides share no major version of the contract, or the call does not exist in this version."""

    reason = Reason.VERSION_SKEW


class Internal(SlipwayError):
    """A defect of the server; the details are in its log under error_id."""

    reason = Reason.INTERNAL
