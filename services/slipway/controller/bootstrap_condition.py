"""The condition BootstrapSucceeded: a Node that joined, else what the machine reported."""

from slipway.controller.conditions import Condition, Type
from slipway.controller.data_secret import Record
from slipway.controller.facts import Facts
from slipway.controller.machine_report import MachineReport
from slipway.controller.reasons import Reason
from slipway.kubernetes_api.resources import Json
from slipway.v1alpha1 import report_service_pb2 as reportspb

_OWN = frozenset(reason.value for reason in Reason)
_LOGS = "; its logs show "
_NO_REPORT = Condition(Type.BOOTSTRAP, "Unknown", Reason.NO_REPORT, "no report yet")


def bootstrap_condition(facts: Facts, record: Record | None, before: Json) -> Condition | None:
    """Give the condition of a config whose data Secret is there; None for others, and for a MachinePool.

    A report never overrides a Node. What was said of the same bundle stays as long as nothing else is known: the
    reports may be out of reach, or no longer kept, and a Node may go.

    Args:
        facts: the config with its machine and the last report of it.
        record: what its data Secret holds; None for what `facts` has of it.
        before: the status as it is.
    """
    if record is None and facts.secret is not None:
        record = Record.of_secret(facts.secret)
    bundle_id = str(before.get("bundleId") or "") if record is None else record.bundle_id
    if not bundle_id or (facts.owner is not None and facts.owner.is_pool):
        return None
    if facts.owner is not None and facts.owner.joined:
        return Condition(Type.BOOTSTRAP, "True", Reason.NODE_JOINED, "the Node joined its cluster (source: node)")
    earlier = _earlier(before) if before.get("bundleId") == bundle_id else None
    if earlier is not None and earlier.reason == Reason.NODE_JOINED:
        return earlier
    if facts.report is None or facts.report.bundle_id != bundle_id:
        return earlier or _NO_REPORT
    return _of_report(facts.report)


def _earlier(before: Json) -> Condition | None:
    for item in before.get("conditions") or ():
        if item["type"] == Type.BOOTSTRAP:
            return Condition(Type.BOOTSTRAP, item["status"], item["reason"], item.get("message", ""))
    return None


def _of_report(report: MachineReport) -> Condition:
    source = f"(source: {'console' if report.of_console else 'machine'})"
    if report.state == reportspb.REPORT_STATE_COMPLETE:
        return Condition(Type.BOOTSTRAP, "True", Reason.BOOTSTRAP_COMPLETE, f"the bootstrap is complete {source}")
    if report.state != reportspb.REPORT_STATE_FAILED:
        return Condition(Type.BOOTSTRAP, "Unknown", Reason.BOOTSTRAP_UNFINISHED, f"the bootstrap has begun {source}")
    step = f"step {report.step}" if report.step else "the bootstrap"
    phase = f" of the phase {report.phase}" if report.step and report.phase else ""
    code = f" with exit code {report.exit_code}" if report.exit_code else ""
    logs = f"{_LOGS}{report.logs_reason}" if report.logs_reason else ""
    return Condition(Type.BOOTSTRAP, "False", _reason(report), f"{step}{phase} failed{code} {source}{logs}")


def end_of(status: str, reason: str, message: str) -> tuple[str, str, str]:
    """Give what identifies an end of a bootstrap: not what its logs show, which arrives later."""
    return status, reason, message.partition(_LOGS)[0]


def _reason(report: MachineReport) -> str:
    """Give the report's own reason, where it has one that is not one of the controller's."""
    return Reason.BOOTSTRAP_FAILED if not report.reason or report.reason in _OWN else report.reason
