"""Settings of the control plane's components: arguments, and the neutral fields that become some."""

from collections.abc import Callable, Container, Iterator
from typing import Any

from slipway.bootstrapper.compliance.additions import Additions
from slipway.bootstrapper.compliance.profile import Argument, Control
from slipway.bootstrapper.compliance.rule import Rule, text_of
from slipway.v1alpha1 import spec_pb2 as specpb

API_SERVER = "kube-apiserver"
_PATHS = {
    API_SERVER: "kubernetes.control_plane.api_server",
    "kube-controller-manager": "kubernetes.control_plane.controller_manager",
    "kube-scheduler": "kubernetes.control_plane.scheduler",
    "etcd": "kubernetes.etcd.local",
}
_AUDIT = {
    "audit-log-path": "log_path",
    "audit-log-maxage": "max_age_days",
    "audit-log-maxbackup": "max_backups",
    "audit-log-maxsize": "max_size_mib",
}
"""Arguments of the API server that are fields of `audit`."""

_PLUGINS = "enable-admission-plugins"
_DEFAULT_PLUGIN = "NodeRestriction"
"""The plugin that is on where nothing names any; an argument that names others must name it, too."""

Observed = tuple[str, str | None]
"""A field path, and its value: None for one that is known on the machine only."""


def find_argument(spec: specpb.MachineBootstrapSpec, program: str, name: str) -> Observed | None:
    """Give where a spec sets an argument of a program, and to what; None where it does not."""
    own = list(_written(spec, program, name))
    if own:
        return own[-1]
    control_plane = spec.kubernetes.control_plane
    if program != API_SERVER:
        return None
    field = _AUDIT.get(name, "")
    audit = {descriptor.name: value for descriptor, value in control_plane.audit.ListFields()}
    if field in audit:
        return f"kubernetes.control_plane.audit.{field}", text_of(audit[field])
    return next(
        (
            (f"kubernetes.control_plane.files[{index}]", None)
            for index, file in enumerate(control_plane.files)
            if file.component == "api-server" and file.argument == name
        ),
        None,
    )


def apply_argument(additions: Additions, name: str, control: Control, demand: Argument) -> None:
    """Apply what a control demands of an argument; the users' own etcd servers have no arguments here."""
    if demand.program == "etcd" and additions.spec.kubernetes.etcd.HasField("external"):
        return
    written = find_argument(additions.spec, demand.program, demand.argument)
    if written is None:
        put = _putter(additions, demand.program, demand.argument, text_of(demand.default))
        additions.settle(name, control, demand, path="", observed=None, put=put)
    elif written[1] is not None:
        additions.settle(name, control, demand, path=written[0], observed=written[1])


def apply_plugin(additions: Additions, name: str, control: Control, plugin: str) -> None:
    """Have an admission plugin on: named beside the user's own, and not off."""
    off = find_argument(additions.spec, API_SERVER, "disable-admission-plugins")
    if off is not None and off[1] is not None and not Rule(excludes=plugin).accepts(off[1]):
        additions.refuse(name, control, off[0])
    written = find_argument(additions.spec, API_SERVER, _PLUGINS)
    if written is None:
        both = ",".join(dict.fromkeys([_DEFAULT_PLUGIN, plugin]))
        additions.add(_putter(additions, API_SERVER, _PLUGINS, both)(), name)
    elif written[1] is not None:
        path = written[0]
        argument = _arguments(additions.spec, API_SERVER)[int(path.rpartition("[")[2][:-1])]
        plugins = [entry for entry in argument.value.split(",") if entry]
        if path in additions.places:
            additions.add(path, name)
        elif plugin not in plugins:
            additions.add(path, name, shared=True)
        argument.value = ",".join(dict.fromkeys([*plugins, plugin]))


def added_arguments(spec: specpb.MachineBootstrapSpec, paths: Container[str]) -> dict[str, list[tuple[str, str]]]:
    """Give the arguments at some field paths of a spec, name and value, by the program that they are of."""
    added = {
        program: [
            (argument.name, argument.value)
            for index, argument in enumerate(_arguments(spec, program))
            if f"{path}.arguments[{index}]" in paths
        ]
        for program, path in _PATHS.items()
    }
    return {program: arguments for program, arguments in added.items() if arguments}


def _putter(additions: Additions, program: str, name: str, value: str) -> Callable[[], str]:
    def put() -> str:
        audit = additions.spec.kubernetes.control_plane.audit
        if program == API_SERVER and name in _AUDIT and audit.HasField("policy"):
            field = _AUDIT[name]
            setattr(audit, field, int(value) if value.isdecimal() else value)
            return f"kubernetes.control_plane.audit.{field}"
        arguments = _arguments(additions.spec, program)
        arguments.add(name=name, value=value)
        return f"{_PATHS[program]}.arguments[{len(arguments) - 1}]"

    return put


def _arguments(spec: specpb.MachineBootstrapSpec, program: str) -> Any:
    holder: Any = spec
    for part in _PATHS[program].split("."):
        holder = getattr(holder, part)
    return holder.arguments


def _written(spec: specpb.MachineBootstrapSpec, program: str, name: str) -> Iterator[Observed]:
    for index, argument in enumerate(_arguments(spec, program)):
        if argument.name == name:
            value = None if argument.segments else argument.value
            yield f"{_PATHS[program]}.arguments[{index}]", value
