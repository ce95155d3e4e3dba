"""What profiles add to a spec, and what of the spec is against them: by field path, with the controls' names."""

from collections.abc import Callable
from dataclasses import dataclass, field

from slipway.bootstrapper.compliance.profile import Control
from slipway.bootstrapper.compliance.rule import Rule
from slipway.contract.errors import Violation
from slipway.contract.items import within
from slipway.v1alpha1 import spec_pb2 as specpb


@dataclass
class Additions:
    """A spec that profiles are being applied to.

    Attributes:
        spec: the spec, changed in place.
        view: name of the operating system that does some things by itself; "" for one that does nothing.
        places: controls by the field path that they have set.
        shared: controls by the path of a field of the user's own that they have added to.
        violations: what of the spec is against a control.
    """

    spec: specpb.MachineBootstrapSpec
    view: str = ""
    places: dict[str, list[str]] = field(default_factory=dict)
    shared: dict[str, list[str]] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)

    def add(self, path: str, control: str, *, shared: bool = False) -> None:
        """Record that a control has set a field, or has added to one of the user's own."""
        names = (self.shared if shared else self.places).setdefault(path, [])
        if control not in names:
            names.append(control)

    def settle(  # noqa: PLR0913  # a value, its place, and what it is held to
        self,
        name: str,
        control: Control,
        rule: Rule,
        *,
        path: str,
        observed: str | None,
        put: Callable[[], str] | None = None,
    ) -> None:
        """Hold a value of the spec to a rule: set it where the spec has none, refuse it where it breaks the rule.

        Args:
            name: of the control.
            control: what demands it.
            rule: the demand.
            path: where the value is, or would be.
            observed: the value; None if the spec has no value.
            put: sets the value, and gives the path that it then has; None where a control cannot set it.
        """
        if observed is None:
            if rule.default is not None and put is not None:
                self.add(put(), name)
        elif not rule.accepts(observed):
            self.refuse(name, control, path)
        elif path in self.places:
            self.add(path, name)

    def refuse(self, name: str, control: Control, path: str) -> None:
        """Record that a field is against a control: the user's own, or one that another control has set."""
        others = self.controls_of(path)
        if others:
            text = f"ask for controls that exclude each other: {name} and {', '.join(others)}"
            self.violations.append(Violation("compliance.profiles", text, remedy="waive one of them"))
            return
        text = f"is against {name}: {control.title[:1].lower()}{control.title[1:]}"
        remedy = "leave it out, or waive the control in compliance.waivers with a reason"
        self.violations.append(Violation(path, text, remedy=remedy))

    def controls_of(self, path: str) -> list[str]:
        """Give the controls that have set a field, or what it lies in."""
        return [name for place, names in self.places.items() if within(path, place) for name in names]
