"""docs/reference/conditions.md: what the conditions of a SlipwayConfig may say."""

from slipway.controller.conditions import Type
from slipway.controller.reason_meanings import MEANINGS
from slipway.controller.reasons import Reason
from slipway.controller.wrapping import ANNOTATION, NEVER, wrappings
from tools.docgen.markdown import code, listed, page, prose, table

_INTRODUCTION = """\
`kubectl get slipwayconfigs` shows status and reason of the condition `Ready`, `-o wide` its message as well.
`clusterctl describe cluster` shows the same beside the Machine. A message names fields as they were written, and never
holds a value of a spec or Secret.

What the controller waits for by itself is not reported in the first five seconds: most machines never wait longer, and
each status is a call of the API server. A refusal is reported at once, also by a Warning event."""

_OPTED_IN = """\
An opted-in `KubeadmConfig` ([how-to](../how-to/opt-in.md)) has the types and reasons of Cluster API's kubeadm provider:
`Ready` is `Ready` or `NotReady`, `DataSecretAvailable` is `Available` or, for all that is waited for, `NotAvailable`;
the message then begins with the reason of the table above. A refusal, which that provider does not know, keeps its own
reason. Once the data is there the conditions are the kubeadm provider's; what Slipway has to say then is an event."""

_TYPES = {
    Type.READY: "All of the following hold. The user data is stored, and nothing stands in the way of its upkeep.",
    Type.DATA_SECRET: "The data Secret is there, complete.",
    Type.CERTIFICATES: "The cluster's certificates and keys that the machine needs are there.",
    Type.PROVISIONER: "A provisioner that may and can render the spec is ready.",
    Type.DIRECTORY_ACCOUNT: "The Secret with the credential of the machine's computer account exists. Only configs "
    "with `os.directory` have this condition. Where `slipway-directory` cannot make the account, the reason is the one "
    "that it reports: [reasons](../how-to/make-computer-accounts.md#reasons).",
    Type.PAUSED: "The controller leaves the config alone.",
    Type.BOOTSTRAP: "The machine's Node joined, or the machine reported that its bootstrap is complete.",
    Type.REPORT_ADDRESS: "Never: only a config whose machine had to go without an address to report to has this "
    "condition, and it is False. `Ready` does not depend on it.",
}

_BOOTSTRAP = """\
With `--reports-address` or `--workload-reports` the controller follows the
[reports of machines](../how-to/receive-reports.md), and each SlipwayConfig of a Machine whose data Secret is there has
`BootstrapSucceeded`; `Ready` does not depend on it, and `failureReason` is never set. It is False with the reason of
the machine's own [event](events.md), for example `CommandFailed`, and the message names step, phase and exit code.
Where a log bundle arrived, the message ends with the first [reason](reasons.md) that its diagnosis found:
`its logs show PortInUse`. A report counts only with the bundle of the data Secret. A Node that joined counts more than
any report. What was said stays while the gateway or the workload cluster is out of reach, or has no longer the report.

A failure is one Warning event on the Machine, with the same reason and message. For an opted-in `KubeadmConfig`, whose
status is not Slipway's, what was reported is an event on the Machine in any case."""

_CONTRACT = """\
A refusal of the bootstrapper or the provisioner is a reason as well: the name of the reason in
[errors.md](errors.md) as one word, for example `UnsupportedFeature` for `UNSUPPORTED_FEATURE`, `SpecInvalid` for
`SPEC_INVALID`. The message then names every field with what is wrong and what to do. It is tried again when the
config, its Machine, its Cluster or the list of provisioners changes; what that table calls retryable, with growing
pauses as well."""


def condition_page() -> str:
    """Give the page."""
    types = [[code(entry.value), prose(text)] for entry, text in _TYPES.items()]
    reasons = [
        [
            code(reason.value),
            code(meaning.type.value),
            "waits" if meaning.waits else "refused" if reason not in _GOOD else "",
            prose(meaning.meaning),
            prose(meaning.remedy),
        ]
        for reason, meaning in MEANINGS.items()
    ]
    wrapping = [
        [listed(map(code, row.kinds)), prose(row.why), "" if row.unless == NEVER else prose(row.unless)]
        for row in wrappings()
    ]
    return page(
        "Conditions",
        "services/slipway/controller/reason_meanings.py and wrapping.yaml",
        _INTRODUCTION,
        "## Types\n\n" + table(["Type", "It is True when"], types),
        "## BootstrapSucceeded\n\n" + _BOOTSTRAP,
        "## Reasons\n\n" + table(["Reason", "Condition", "", "Meaning", "What to do"], reasons),
        "## Reasons of the contract\n\n" + _CONTRACT,
        "## KubeadmConfigs that opted in\n\n" + _OPTED_IN,
        "## Infrastructures that change user data\n\n"
        "A format that must reach the machine unchanged (Talos) is refused on these with `UserDataWrapped`. Where the "
        f'exception of the last column is true, say so on the config: annotation `{ANNOTATION}: "true"`.\n\n'
        + table(["Kinds of machines", "User data", "Exception"], wrapping),
    )


_GOOD = {
    Reason.AVAILABLE,
    Reason.NOT_PAUSED,
    Reason.NOT_KNOWN,
    Reason.NODE_JOINED,
    Reason.BOOTSTRAP_FAILED,
    Reason.NO_ROOM_FOR_ADDRESS,
    Reason.METADATA_UNKNOWN,
}
