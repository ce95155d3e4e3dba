"""Why a config cannot go on, raised from anywhere between its facts and its Secret."""

from slipway.bootstrapper.problems.error_texts import summary, summary_of_source
from slipway.contract.errors import (
    AmbiguousProvisioner,
    CredentialsMissing,
    NoReadyProvisioner,
    ProvisionerFailed,
    ProvisionerNotAllowed,
    ProvisionerNotFound,
    ProvisionerTimeout,
    SecretMissing,
    SlipwayError,
)
from slipway.contract.source_position import SourceError
from slipway.controller.conditions import Type
from slipway.controller.reason_meanings import MEANINGS
from slipway.controller.reasons import Reason
from slipway.kubernetes_api.failures import ApiFailure, Conflict, Forbidden, Invalid

_VERBS = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
"""What a role calls the methods of HTTP."""

_PROVISIONER = (
    ProvisionerNotFound,
    NoReadyProvisioner,
    ProvisionerNotAllowed,
    AmbiguousProvisioner,
    ProvisionerFailed,
    ProvisionerTimeout,
)


class Halt(Exception):  # noqa: N818  # it ends a reconciliation, and is not always an error
    """The config cannot go on.

    Attributes:
        reason: the reason for the condition, ours or the contract's.
        message: why, for people; it holds no value of a spec or Secret.
        type: the condition that it is about.
        refused: a person must change something; else it is waited for.
        retry: it is worth a repeat with growing pauses, since no watch may report when it is over.
        after: seconds after which it must be looked at again, or None.
    """

    def __init__(  # noqa: PLR0913  # keyword-only attributes
        self,
        reason: Reason | str,
        message: str = "",
        *,
        type_: Type | None = None,
        refused: bool | None = None,
        retry: bool = False,
        after: float | None = None,
    ) -> None:
        """Say why; what a reason of our own means by default comes from its table."""
        meaning = MEANINGS.get(reason) if isinstance(reason, Reason) else None
        self.reason = str(reason)
        self.message = message or (meaning.meaning if meaning else "")
        self.type = type_ or (meaning.type if meaning else Type.DATA_SECRET)
        self.refused = refused if refused is not None else not (meaning and meaning.waits)
        self.retry = retry
        self.after = after
        super().__init__(f"{self.reason}: {self.message}")


def of_contract(error: SlipwayError) -> Halt:
    """Give the halt of a refusal of the contract, or of a failure on the way to it."""
    if isinstance(error, SecretMissing):
        return Halt(Reason.WAITING_FOR_SECRET, summary(error))
    if isinstance(error, CredentialsMissing):
        return Halt(Reason.WAITING_FOR_CERTIFICATES, summary(error))
    if isinstance(error, NoReadyProvisioner | ProvisionerNotFound):
        return Halt(Reason.WAITING_FOR_PROVISIONER, summary(error))
    type_ = Type.PROVISIONER if isinstance(error, _PROVISIONER) else Type.DATA_SECRET
    name = type(error).__name__
    return Halt(name, summary(error), type_=type_, refused=not error.retryable, retry=error.retryable)


def of_source(error: SourceError) -> Halt:
    """Give the halt of a spec that the codec refuses."""
    return Halt("SpecInvalid", summary_of_source(error))


def of_api(error: ApiFailure) -> Halt:
    """Give the halt of a failed call of the management cluster."""
    if isinstance(error, Forbidden):
        return Halt(
            Reason.FORBIDDEN,
            f"RBAC does not allow the controller to {_VERBS.get(error.verb, error.verb)} {error.kind}",
            retry=True,
        )
    if isinstance(error, Conflict):
        return Halt(Reason.API_UNAVAILABLE, "an object was changed meanwhile", retry=True)
    if isinstance(error, Invalid):
        return Halt(Reason.OBJECT_REFUSED, str(error), refused=True, retry=True)
    return Halt(Reason.API_UNAVAILABLE, f"{error.verb} {error.kind}: no usable answer", retry=True)
