"""What is to be done with an opted-in KubeadmConfig: the rules of our own kind, behind those of ownership.

An object is rendered only while it is held, that is paused for the kubeadm provider by Slipway. Afterwards it is that
provider's to report, and nothing is written but the data Secret of a pool and the token in the workload cluster.
"""

from slipway.controller import ownership
from slipway.controller.data_secret import Record, controller_of
from slipway.controller.decision import Decision, Idle, Paused, Release, decide
from slipway.controller.facts import Facts
from slipway.controller.halt import Halt
from slipway.controller.reasons import Reason


def decide_opted_in(facts: Facts) -> Decision:
    """Give what is to be done.

    Raises:
        Halt: something has to come first, or a person must change something.
    """
    if ownership.OWNER not in (facts.config["metadata"].get("labels") or {}):
        raise Halt(Reason.OPTED_IN_TOO_LATE)
    if ownership.released(facts.config):
        return _after_release(facts)
    if not ownership.owned(facts.config) or not (facts.held or _has_ours(facts)):
        return Idle()
    decision = decide(facts)
    # The condition that reports a pause is the kubeadm provider's.
    return Idle() if isinstance(decision, Paused) else decision


def _after_release(facts: Facts) -> Decision:
    """Give up a Secret that came too late: no status names it, and the kubeadm provider may not write over ours."""
    record = Record.of_secret(facts.secret) if facts.secret is not None else None
    controller = controller_of(facts.secret) if facts.secret is not None else None
    in_use = facts.reported or (facts.owner is not None and facts.owner.data_secret_name)
    if record is None or controller is None or controller.get("uid") != facts.uid or in_use:
        return Idle()
    return Release(record)


def _has_ours(facts: Facts) -> bool:
    """Whether the data Secret is one that Slipway made for this config."""
    if facts.secret is None or Record.of_secret(facts.secret) is None:
        return False
    return (controller_of(facts.secret) or {}).get("kind") == facts.resource.kind
