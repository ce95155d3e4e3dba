"""A container of a manifest, with everything in it resolved as a kubelet does: variables, arguments, mounts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]

_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a pod's variables may refer to."""

    name: str
    namespace: str
    address: str
    account: str
    services: Mapping[str, str]

    def field(self, path: str) -> str:
        """Give a field of the pod; KeyError for one that nobody needed so far."""
        return {
            "metadata.name": self.name,
            "metadata.namespace": self.namespace,
            "status.podIP": self.address,
            "spec.serviceAccountName": self.account,
        }[path]


def environment(pod: Object, container: Object, facts: Facts) -> dict[str, str]:
    """Give the variables that a container has: those of Services, unless the pod wants none, and its own."""
    found = dict(facts.services) if pod.get("enableServiceLinks", True) else {}
    found |= {name: value for name, value in facts.services.items() if name.startswith("KUBERNETES_")}
    for one in container.get("env") or ():
        if "valueFrom" in one:
            found[one["name"]] = facts.field(one["valueFrom"]["fieldRef"]["fieldPath"])
        else:
            found[one["name"]] = expanded(one.get("value", ""), found)
    return found


def command(container: Object, variables: Mapping[str, str]) -> list[str]:
    """Give what is run."""
    return [expanded(argument, variables) for argument in (*container["command"], *(container.get("args") or ()))]


def expanded(text: str, variables: Mapping[str, str]) -> str:
    """Fill in $(NAME); "$$" is a dollar, and an unknown name stays as it is."""

    def filled(match: re.Match[str]) -> str:
        name = match.group(1)
        return "$" if name is None else variables.get(name, match.group(0))

    return _REFERENCE.sub(filled, text)


def service_variables(services: list[Object]) -> dict[str, str]:
    """Give the variables by which a kubelet tells pods of the Services of their namespace."""
    found = {}
    for service in services:
        name = service["metadata"]["name"].upper().replace("-", "_")
        host, port = service["spec"]["clusterIP"], str(service["spec"]["ports"][0]["port"])
        url = f"tcp://{host}:{port}"
        found |= {
            f"{name}_SERVICE_HOST": host,
            f"{name}_SERVICE_PORT": port,
            f"{name}_PORT": url,
            f"{name}_PORT_{port}_TCP": url,
            f"{name}_PORT_{port}_TCP_PORT": port,
            f"{name}_PORT_{port}_TCP_ADDR": host,
        }
    return found
