"""Changes of a machine that meets its profile, each against one demand of a control."""

import os
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from functools import partial
from typing import Any

from slipway.bootstrapper.compliance.profile import (
    Argument,
    AuditPolicy,
    Encryption,
    Files,
    Kubelet,
    Loopback,
    Plugin,
    Requirement,
    Sysctl,
)
from slipway.bootstrapper.compliance.rule import Rule
from tests.bootstrapper.compliance.hardened_node import Hardened


def mutations(made: Hardened, demand: Requirement) -> Iterator[Callable[[], None]]:
    """Give changes of a machine, each against a demand; they may be made one after the other."""
    match demand:
        case Argument() | Kubelet():
            yield from _settings(made, demand)
        case Plugin():
            yield partial(_remove_plugin, made, demand.plugin)
            yield lambda: set_argument(made, "kube-apiserver", "enable-admission-plugins", f"X{demand.plugin}")
        case AuditPolicy():
            yield lambda: set_argument(made, "kube-apiserver", "audit-policy-file", None)
        case Encryption(encryption="configured"):
            yield lambda: set_argument(made, "kube-apiserver", "encryption-provider-config", None)
        case Encryption():
            text = "resources:\n- resources: [secrets]\n  providers:\n  - identity: {}\n  - secretbox: {}\n"
            yield lambda: write(made, "etc/kubernetes/slipway/encryption", text)
        case Files():
            yield partial(_spoil_file, made, demand)
        case Sysctl():
            yield lambda: write(made, f"proc/sys/{demand.sysctl.replace('.', '/')}", "7\n")
        case Loopback():
            yield partial(listen, made, "proc/net/tcp", f"00000000:{demand.loopback:04X}")
            yield partial(listen, made, "proc/net/tcp6", f"{'0' * 32}:{demand.loopback:04X}")


def _settings(made: Hardened, demand: Argument | Kubelet) -> Iterator[Callable[[], None]]:
    if isinstance(demand, Argument) and demand.operator[0] == "excludes":
        yield partial(_append, made, demand)
    for value in _bad_values(demand):
        yield partial(_set, made, demand, value)


def _bad_values(rule: Rule) -> list[str | None]:
    operator, operand = rule.operator
    first = operand.split(",", maxsplit=1)[0]
    bad: dict[str, list[str | None]] = {
        "present": [None, ""],
        "absent": ["/x"],
        "equals": ["other", ""],
        "includes": [f"X{operand}", ""],
        "excludes": [f"A,{first}", first],
        "among": [f"{operand},TLS_RSA_WITH_RC4_128_SHA", ""],
        "at-least": [str(int(operand) - 1) if operand.isdecimal() else "", "many"],
    }
    return bad[operator] + ([] if rule.or_unset or operator in {"present", "absent"} else [None])


def _set(made: Hardened, demand: Argument | Kubelet, value: str | None) -> None:
    if isinstance(demand, Argument):
        same = demand.unlike and made.arguments[demand.unlike.program].get(demand.unlike.argument)
        set_argument(made, demand.program, demand.argument, same or value)
        return
    if demand.flag:
        set_argument(made, "kubelet", demand.flag, value)
    if demand.kubelet and not (demand.flag and value is not None):
        _setting(made.settings, demand.kubelet.split("."), value)
        made.write()


def _setting(tree: dict[str, Any], parts: list[str], value: str | None) -> None:
    for part in parts[:-1]:
        tree = tree.setdefault(part, {})
    tree.pop(parts[-1], None)
    if value is not None:
        tree[parts[-1]] = value


def set_argument(made: Hardened, program: str, name: str, value: str | None) -> None:
    """Have a program run with another value of an argument; without it for None."""
    made.arguments[program] = {key: text for key, text in made.arguments[program].items() if key != name}
    if value is not None:
        made.arguments[program][name] = value
    made.write()


def write(made: Hardened, path: str, text: str) -> None:
    """Write a file of the machine."""
    (made.node.root / path).write_text(text, encoding="ascii")


def listen(made: Hardened, path: str, address: str) -> None:
    """Have a program listen at an address, as the kernel writes it."""
    write(made, "proc/net/tcp", "")
    write(made, path, f"   0: {address} 00000000:0000 0A\n")


def spoiled_file(demand: Files) -> str:
    """Give the path of the file that is changed against a demand."""
    return _etcd(demand.files[-1]).replace("*.conf", "x.conf").replace("*", "x")


def _etcd(pattern: str) -> str:
    return pattern.replace("{etcd}", "/var/lib/etcd")


def _append(made: Hardened, demand: Argument) -> None:
    before = made.arguments[demand.program].get(demand.argument, "A")
    set_argument(made, demand.program, demand.argument, f"{before},{demand.operator[1].split(',')[0]}")


def _remove_plugin(made: Hardened, plugin: str) -> None:
    name = "enable-admission-plugins"
    plugins = made.arguments["kube-apiserver"][name].split(",")
    set_argument(made, "kube-apiserver", name, ",".join(f"X{each}" if each == plugin else each for each in plugins))


def is_touched(other: Requirement, changed: Requirement) -> bool:
    """Return whether a demand looks at what the first change against another one changes."""
    if isinstance(changed, Files):
        if not isinstance(other, Files) or bool(other.mode) != bool(changed.mode):
            return False
        return any(fnmatch(spoiled_file(changed), _etcd(pattern)) for pattern in other.files)
    return bool(_subjects(other) & {min(_subjects(changed))})


def _subjects(demand: Requirement) -> set[str]:
    """Give what a demand looks at, where that is no file; the least is what is changed against it."""
    match demand:
        case Argument(unlike=None):
            return {f"{demand.program} {demand.argument}"}
        case Argument():
            assert demand.unlike is not None
            return {f" {demand.program} {demand.argument}", f"{demand.unlike.program} {demand.unlike.argument}"}
        case Kubelet():
            return {f"kubelet {demand.kubelet or demand.flag}"}
        case Plugin():
            return {f"plugin {demand.plugin}"}
        case AuditPolicy():
            return {"kube-apiserver audit-policy-file"}
        case Encryption():
            document = set() if demand.encryption == "configured" else {"encryption"}
            return {*document, "kube-apiserver encryption-provider-config"}
        case Files():
            return set()
        case _:
            return {demand.sysctl if isinstance(demand, Sysctl) else str(demand.loopback)}


def _spoil_file(made: Hardened, demand: Files) -> None:
    place = made.node.root / spoiled_file(demand)[1:]
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.exists():
        place.write_text("x\n", encoding="ascii")
        place.chmod(0o600)
        folder = place.parent.stat()
        os.chown(place, folder.st_uid, folder.st_gid)
    if demand.mode:
        place.chmod(0o777)
    else:
        os.chown(place, 1, 1)
