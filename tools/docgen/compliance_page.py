"""docs/reference/compliance.md: the profiles, their controls, and what each sets and checks."""

from collections.abc import Iterator

from slipway.bootstrapper.compliance.profile import (
    Argument,
    AuditPolicy,
    Control,
    Encryption,
    Files,
    Kubelet,
    Loopback,
    Plugin,
    Profile,
    Requirement,
    Sysctl,
)
from slipway.bootstrapper.compliance.profile_table import profiles
from slipway.bootstrapper.compliance.rule import Rule, text_of
from tools.docgen.compliance_k0s import k0s_section
from tools.docgen.compliance_sizes import size_section
from tools.docgen.markdown import code, page, table

INTRODUCTION = """\
The profiles that `spec.compliance.profiles` can name, each with the controls of a benchmark. Ids are the benchmark's,
titles are ours. The last column is what a value of the spec, and the machine, is held to, and what the profile sets
where a spec has nothing. How to use them: [meet a benchmark](../how-to/meet-a-benchmark.md)."""

_WORDS = {
    "present": "is set", "absent": "is not set", "among": "only of {}", "at-least": "at least {}",
    "includes": "includes {}", "excludes": "without {}", "equals": "is {}",
}  # fmt: skip


def compliance_page() -> str:
    """Give the page."""
    sections = [_section(profile) for profile in profiles().values()]
    source = "bootstrapper/slipway/bootstrapper/compliance/profiles"
    return page("Compliance profiles", source, INTRODUCTION, *sections, k0s_section(), size_section())


def _section(profile: Profile) -> str:
    heads = [
        "Control",
        "Title",
        *(["Severity"] if any(control.severity for control in profile.controls) else []),
        "Level",
        "On",
    ]
    rows = [
        [
            code(control.id),
            control.title,
            *([control.severity] if "Severity" in heads else []),
            control.level,
            ", ".join(control.roles),
            _demanded(control),
        ]
        for control in profile.controls
    ]
    levels = ", ".join(code(f"{profile.name}/{level}") for level in profile.levels)
    source = (
        f"{profile.document}, {profile.version}. Profiles: {levels}; each level has the controls of those before it."
    )
    return f"## {profile.name}\n\n{source}\n\n" + table([*heads, "Sets and demands"], rows)


def _demanded(control: Control) -> str:
    demands = "; ".join(_demands(control))
    if not control.manual:
        return demands
    checked = f"; checked where the spec has it: {demands}" if demands else ""
    return f"for people: {control.manual}{checked}"


def _demands(control: Control) -> Iterator[str]:
    for demand in control.requires:
        yield _demand(demand)


def _demand(demand: Requirement) -> str:
    match demand:
        case Argument():
            unlike = f", not that of {demand.unlike.program} --{demand.unlike.argument}" if demand.unlike else ""
            return f"{demand.program} {code(f'--{demand.argument}')} {_rule(demand)}{unlike}{_own(demand.talos)}"
        case Kubelet():
            name = code(demand.kubelet) if demand.kubelet else code(f"--{demand.flag}")
            return f"kubelet {name} {_rule(demand)}{_own(demand.talos)}"
        case Plugin():
            return f"admission plugin {code(demand.plugin)} is on"
        case AuditPolicy():
            return "the API server has an audit policy"
        case Encryption():
            what = "is configured" if demand.encryption == "configured" else "begins with a strong provider"
            return f"encryption at rest {what}{_own('own')}"
        case Files():
            what = f"mode {demand.mode} at most" if demand.mode else f"of {demand.owner}"
            repaired = ", set after the bootstrap" if demand.repaired else ""
            return f"{', '.join(map(code, demand.files))} {what}{repaired}"
        case Sysctl():
            return f"sysctl {code(f'{demand.sysctl}={demand.value}')}{_own(demand.talos)}"
        case Loopback():
            return f"port {demand.loopback} listens at loopback addresses only"


def _rule(rule: Rule) -> str:
    operator, operand = rule.operator
    words = _WORDS[operator].format(code(operand.replace(",", ", ")))
    sets = "" if rule.default is None or operator == "equals" else f" (sets {code(text_of(rule.default))})"
    if operator == "among":
        sets = ""
    return f"{words}{' or is not set' if rule.or_unset else ''}{sets}"


def _own(view: str | None) -> str:
    return "; Talos does it by itself" if view == "own" else ""
