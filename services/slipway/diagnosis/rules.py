"""The rules, as rules.yaml holds them: what a line of a log means, and what to do about it."""

from functools import cache
from importlib import resources
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Reason = Annotated[str, StringConstraints(pattern=r"^([A-Z][a-z0-9]+)+$")]
Pattern = Annotated[str, StringConstraints(min_length=3, max_length=600)]
PAGE = "docs/reference/reasons.md"
SYMPTOM = 80
"""From this precedence on a rule names an effect; it is reported only where no cause is found."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Scope(_Model):
    """Where a rule looks.

    Attributes:
        engine: whose message it is; for people.
        phase: which part of the boot fails; for people.
        units: syslog identifiers; a line that names another one is not looked at.
        files: how the path of a log ends; in a log bundle other files are not looked at.
    """

    engine: Literal[
        "any", "cloud-init", "cluster-api", "containerd", "directory", "etcd", "ignition", "k0s", "kernel", "kubeadm",
        "kubelet", "systemd", "windows",
    ]  # fmt: skip
    phase: Literal["boot", "network", "userdata", "disks", "files", "packages", "runtime", "bootstrap", "directory"]
    units: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class Rule(_Model):
    """What some lines mean.

    Attributes:
        id: name of the rule.
        reason: stable name of what is wrong.
        scope: where the rule looks.
        precedence: causes before their effects: of several rules that match, the lowest is the answer.
        patterns: RE2; one of them matches somewhere in a line. A quotation mark stands for either kind, escaped or not.
        unless: a line that one of these matches too is something else.
        explanation: what is wrong, for somebody who does not know the program.
        remedy: what to do.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    reason: Reason
    scope: Scope
    precedence: int = Field(ge=1, le=99)
    patterns: tuple[Pattern, ...] = Field(min_length=1)
    unless: tuple[Pattern, ...] = ()
    explanation: Annotated[str, StringConstraints(min_length=20)]
    remedy: Annotated[str, StringConstraints(min_length=10)]

    @property
    def docs(self) -> str:
        """Where our documentation tells more."""
        return f"{PAGE}#{self.reason.lower()}"


class Recovery(_Model):
    """A line that shows that what was wrong before it is so no longer.

    Attributes:
        patterns: RE2, as of a rule.
        everywhere: it settles the other files of a log bundle as well.
    """

    patterns: tuple[Pattern, ...] = Field(min_length=1)
    everywhere: bool = False


class RuleSet(_Model):
    """All of rules.yaml."""

    recoveries: tuple[Recovery, ...]
    rules: tuple[Rule, ...]


@cache
def known_rules() -> RuleSet:
    """Give the rules that are shipped."""
    text = resources.files(__package__).joinpath("rules.yaml").read_text(encoding="utf-8")
    rule_set = RuleSet.model_validate(yaml.safe_load(text))
    for field in ("id", "reason"):
        names = [getattr(rule, field) for rule in rule_set.rules]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"rules.yaml: {field} is there twice: {', '.join(twice)}")
    return rule_set


def expression(pattern: str) -> str:
    r"""Give the RE2 of a pattern: programs quote what they pass on once more, so `"` may have become `\"` or `'`."""
    return pattern.replace('"', r"""\\*["'`]""")
