"""The rules, as the files in rules/ hold them: what a line of a log means, and what to do about it."""

import re
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Reason = Annotated[str, StringConstraints(pattern=r"^([A-Z][a-z0-9]+)+$")]
Pattern = Annotated[str, StringConstraints(min_length=3, max_length=600)]
PAGE = "docs/reference/reasons.md"
SYMPTOM = 80
"""From this precedence on a rule names an effect; it is reported only where no cause is found."""
ADVICE = 70
"""From this precedence to SYMPTOM a rule names what programs warn of: reported beside a cause, or after an effect."""
_FRAGMENT = re.compile(r"%([a-z_]+)%")


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
        "kubelet", "systemd", "talos", "windows",
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
        until_joined: what it reports is normal on a machine that registered its Node, before and shortly after.
        explains: reasons that are effects of this one, and are not reported beside it.
        patterns: RE2; one of them matches somewhere in a line. A quotation mark stands for either kind, escaped or
            not, and %name% for a part of fragments.yaml.
        broad: the same for words that many programs write for many causes. They count only with a second piece of
            evidence, which is a failure behind them or an effect that this rule explains, and never beside a cause
            that needs none.
        unless: a line that one of these matches too is something else.
        explanation: what is wrong, for readers who do not know the program.
        remedy: what to do.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    reason: Reason
    scope: Scope
    precedence: int = Field(ge=1, le=99)
    until_joined: bool = False
    explains: tuple[Reason, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    broad: tuple[Pattern, ...] = ()
    unless: tuple[Pattern, ...] = ()
    explanation: Annotated[str, StringConstraints(min_length=20)]
    remedy: Annotated[str, StringConstraints(min_length=10)]

    @model_validator(mode="after")
    def _require_a_pattern(self) -> Self:
        if not self.patterns and not self.broad:
            raise ValueError(f"{self.id}: has no pattern; add one to `patterns` or `broad`")
        return self

    @property
    def docs(self) -> str:
        """Where our documentation explains it."""
        return f"{PAGE}#{self.reason.lower()}"


class Recovery(_Model):
    """A line that shows that what was wrong before it is so no longer.

    Attributes:
        patterns: RE2, as of a rule.
        everywhere: the machine became a node: it settles the other files of a log bundle as well.
        joined: the kubelet registered the Node: it settles this log.
        of: the reasons that it settles; empty for all.
    """

    patterns: tuple[Pattern, ...] = Field(min_length=1)
    everywhere: bool = False
    joined: bool = False
    of: tuple[Reason, ...] = ()


class Failure(_Model):
    """Lines that show that something failed for good, whatever the reason.

    Attributes:
        patterns: RE2, as of a rule.
        unless: as of a rule.
    """

    patterns: tuple[Pattern, ...] = Field(min_length=1)
    unless: tuple[Pattern, ...] = ()


class RuleSet(_Model):
    """All rules, recoveries and failures."""

    failures: tuple[Failure, ...] = ()
    recoveries: tuple[Recovery, ...]
    rules: tuple[Rule, ...]


@cache
def known_rules() -> RuleSet:
    """Give the rules that are shipped."""
    package = resources.files(__package__)
    files = sorted(package.joinpath("reasons").iterdir(), key=lambda path: path.name)
    rules = [rule for path in files if path.name.endswith(".yaml") for rule in _load(path)]
    others = {name: _load(package.joinpath(f"{name}.yaml")) for name in ("recoveries", "failures")}
    return checked(RuleSet.model_validate({**others, "rules": rules}))


def checked(rules: RuleSet) -> RuleSet:
    """Give the rules back.

    Raises:
        ValueError: an id or a reason is there twice, or a reason is named that no rule has.
    """
    for field in ("id", "reason"):
        names = [getattr(rule, field) for rule in rules.rules]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"rules: {field} is there twice: {', '.join(twice)}")
    reasons = {rule.reason for rule in rules.rules}
    named = {reason for rule in rules.rules for reason in rule.explains}
    named.update(reason for recovery in rules.recoveries for reason in recovery.of)
    if unknown := sorted(named - reasons):
        raise ValueError(f"rules: no rule has the reason {', '.join(unknown)}; correct `explains` or `of`")
    return rules


@cache
def fragments() -> dict[str, str]:
    """Give the parts of patterns that several rules share."""
    return dict(_load(resources.files(__package__).joinpath("fragments.yaml")))


def expression(pattern: str) -> str:
    r"""Give the RE2 of a pattern: programs quote what they pass on once more, so `"` may have become `\"` or `'`."""
    whole = _FRAGMENT.sub(lambda match: fragments()[match[1]], pattern)
    return whole.replace('"', r"""\\*["'`]""")


def _load(path: Traversable) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))
