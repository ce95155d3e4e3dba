"""docs/reference/conditions.md: types and reasons of the conditions of a SlipwayConfig."""

from inspect import getdoc

from slipway.controller.conditions import Type
from slipway.controller.reason_meanings import MEANINGS, Meaning
from slipway.controller.reasons import Reason
from slipway.controller.wrapping import ANNOTATION, NEVER, wrappings
from slipway.directory.failures import DirectoryError
from tools.docgen.markdown import code, listed, page, prose, table

_INTRODUCTION = """\
`kubectl get slipwayconfigs` shows status and reason of the condition `Ready`, `-o wide` its message as well.
`clusterctl describe cluster` shows the same beside the Machine. A message names fields as they were written, and never
holds a value of a spec or Secret.

What the controller waits for by itself is not reported in the first five seconds: most machines never wait longer, and
each status is a call of the API server. A refusal is reported at once, also by a Warning event."""

_OPTED_IN = """\
An opted-in `KubeadmConfig` ([how-to](../how-to/opt-in.md)) has the types and reasons of Cluster API's kubeadm provider:
`Ready` is `Ready` or `NotReady`, `DataSecretAvailable` is `Available` or, while waiting, `NotAvailable`; the message
then begins with the reason of the table above. A refusal, which that provider does not know, keeps its own reason. Once
the data Secret exists, the conditions are the kubeadm provider's: Slipway then reports by events only."""

_TYPES = {
    Type.READY: "True: the user data is stored with everything that it needs, and the bootstrap token is refreshed.",
    Type.DATA_SECRET: "True: the data Secret exists and is complete.",
    Type.CERTIFICATES: "True: the cluster's certificates and keys that the machine needs exist.",
    Type.PROVISIONER: "True: a provisioner that is allowed and able to render the spec is ready.",
    Type.DIRECTORY_ACCOUNT: "True: the Secret with the credential of the machine's computer account exists. Only "
    "configs with `os.directory` have this condition. Where `slipway-directory` cannot make the account, the reason is "
    "the one that it reports.",
    Type.PAUSED: "True: the controller does not process the config.",
    Type.BOOTSTRAP: "True: the machine's Node joined, or the machine reported that its bootstrap is complete. False: "
    "see below.",
    Type.REPORT_ADDRESS: "False: the machine has no address to report to, because the user data would be too large. "
    "It is never True, other configs do not have it, and `Ready` does not depend on it.",
}

_BOOTSTRAP = """\
With `--reports-address` or `--workload-reports` the controller follows the
[reports of machines](../how-to/receive-reports.md), and each SlipwayConfig of a Machine whose data Secret is there has
`BootstrapSucceeded`; `Ready` does not depend on it, and `failureReason` is never set. It is False with the reason of
the machine's own [event](events.md), for example `CommandFailed`, and the message names step, phase and exit code.
Where a log bundle arrived, the message ends with the first [reason](reasons.md) that its diagnosis found:
`its logs show PortInUse`. A report counts only with the bundle of the data Secret. A Node that joined counts more than
any report. The condition keeps its last state while the gateway or the workload cluster cannot be reached, or has lost
the report.

A failure is one Warning event on the Machine, with the same reason and message. For an opted-in `KubeadmConfig`, whose
status is not Slipway's, what was reported is an event on the Machine in any case."""

_CONTRACT = """\
A refusal of the bootstrapper or the provisioner is a reason as well: the name of the reason in
[errors.md](errors.md) as one word, for example `UnsupportedFeature` for `UNSUPPORTED_FEATURE`, `SpecInvalid` for
`SPEC_INVALID`. The message then names every field with what is wrong and what to do. It is tried again when the
config, its Machine, its Cluster or the list of provisioners changes; what that table calls retryable, with growing
pauses as well."""


_DIRECTORY = """\
Where `slipway-directory` cannot make the computer account of a machine, `DirectoryAccountReady` has one of these
reasons. `slipway directory` prints the same. What to do: [how-to](../how-to/make-computer-accounts.md#reasons)."""

_REASONS = """\
*Condition*: the condition that has the reason besides `Ready`. Once the data Secret is reported, only `Ready` becomes
False with the reason: the other conditions stay True. *event only*: no condition has the reason.

*State*: *waits*: the controller continues by itself. *refused*: a person has to change something. Empty: neither."""


def condition_page() -> str:
    """Give the page."""
    types = [[code(entry.value), text] for entry, text in _TYPES.items()]
    reasons = [
        [
            code(reason.value),
            code(meaning.type.value) if meaning.type is not None else "event only",
            _state(reason, meaning),
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
        "## Types\n\n" + table(["Type", "Meaning"], types),
        "## BootstrapSucceeded\n\n" + _BOOTSTRAP,
        f"## Reasons\n\n{_REASONS}\n\n" + table(["Reason", "Condition", "State", "Meaning", "What to do"], reasons),
        "## Reasons of the contract\n\n" + _CONTRACT,
        f"## Reasons of the directory service\n\n{_DIRECTORY}\n\n" + table(["Reason", "Meaning"], _directory_reasons()),
        "## KubeadmConfigs that opted in\n\n" + _OPTED_IN,
        "## Infrastructures that change user data\n\n"
        "A format that must reach the machine unchanged (Talos) is refused on these with `UserDataWrapped`. Where the "
        f'exception of the last column is true, say so on the config: annotation `{ANNOTATION}: "true"`.\n\n'
        + table(["Kinds of machines", "User data", "Exception"], wrapping),
    )


def _directory_reasons() -> list[list[str]]:
    """Give each failure of the directory service by its reason, with the first sentence of its class."""
    failures = sorted(DirectoryError.__subclasses__(), key=lambda failure: failure.reason)
    return [[code(failure.reason), prose(getdoc(failure) or "")] for failure in failures]


_GOOD = {
    Reason.AVAILABLE,
    Reason.NOT_PAUSED,
    Reason.NOT_KNOWN,
    Reason.NODE_JOINED,
    Reason.BOOTSTRAP_FAILED,
    Reason.NO_ROOM_FOR_ADDRESS,
}


def _state(reason: Reason, meaning: Meaning) -> str:
    if meaning.waits:
        return "waits"
    return "" if meaning.type is None or reason in _GOOD else "refused"
