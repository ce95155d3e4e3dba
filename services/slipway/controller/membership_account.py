"""The condition about a machine's computer account: `slipway-directory`, or a person, makes it; the controller waits.

`slipway-directory` reports by an annotation of a ConfigMap why it could not: it has no right to write a config. Only
its own reasons are taken over, and no text.
"""

from collections.abc import Sequence

from slipway.controller.conditions import Condition, Type
from slipway.controller.facts import Facts
from slipway.controller.reasons import Reason
from slipway.directory.failures import DirectoryError
from slipway.kubernetes_api.resources import GROUP, Json

REASON = f"{GROUP}/directory-reason"
"""Annotation of the ConfigMap MACHINE-directory."""

REASONS = frozenset(failure.reason for failure in DirectoryError.__subclasses__())
"""The reasons of the service."""


def account_conditions(facts: Facts, conditions: Sequence[Condition]) -> list[Condition]:
    """Return the condition to add to the others of a config: none where its machine joins no domain.

    Args:
        facts: what is known of the config.
        conditions: the others.
    """
    by_type = {condition.type: condition for condition in conditions}
    if not facts.joins_domain or Type.DIRECTORY_ACCOUNT in by_type:
        return []
    data, ready = by_type.get(Type.DATA_SECRET), by_type.get(Type.READY)
    if data is not None and data.status == "True":
        return [Condition(Type.DIRECTORY_ACCOUNT, "True", Reason.AVAILABLE)]
    if ready is not None and ready.reason == Reason.WAITING_FOR_DIRECTORY_ACCOUNT:
        return [_waiting(facts, ready.message)]
    if facts.account is None or is_of_predecessor(facts):
        return [_waiting(facts, f"the Secret {facts.account_name} does not exist")]
    return [Condition(Type.DIRECTORY_ACCOUNT, "True", Reason.AVAILABLE)]


def is_of_predecessor(facts: Facts) -> bool:
    """Return whether the Secret belongs to an earlier Machine of the same name, and goes with it."""
    references = (facts.account or {}).get("metadata", {}).get("ownerReferences") or ()
    owners = [reference.get("uid") for reference in references if reference.get("kind") == "Machine"]
    return facts.owner is not None and bool(owners) and facts.owner.uid not in owners


def _waiting(facts: Facts, message: str) -> Condition:
    reason = _reported(facts.account_report)
    if not reason:
        return Condition(Type.DIRECTORY_ACCOUNT, "False", Reason.WAITING_FOR_DIRECTORY_ACCOUNT, message)
    problem = f"{message}; slipway-directory cannot make the account: its event on this config has the details"
    return Condition(Type.DIRECTORY_ACCOUNT, "False", reason, problem)


def _reported(report: Json | None) -> str:
    reason = str(((report or {}).get("metadata", {}).get("annotations") or {}).get(REASON) or "")
    return reason if reason in REASONS else ""
