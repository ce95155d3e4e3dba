"""Some pre-commands edit what today's provider put on the machine: such a config is bound to its own format.

The kubeadm provider keeps its files in one place for cloud-config and in another for ignition. A command that
knows the places of one format only does nothing sensible anywhere else, and must not be rendered for it.
"""

import re
from collections.abc import Iterable

_PATHS = {
    "cloud-config": ("/run/kubeadm/kubeadm.yaml", "/run/kubeadm/kubeadm-join-config.yaml", "/run/kubeadm"),
    "ignition": ("/etc/kubeadm.yml", "/etc/kubeadm.sh", "kubeadm.service"),
}


def known_formats(command: str) -> frozenset[str]:
    """Give the formats whose files a command names."""
    return frozenset(name for name, paths in _PATHS.items() if _names(command, paths))


def binds(command: str, format_name: str) -> bool:
    """Return whether a command knows the files of its own format and of no other."""
    return known_formats(command) == {format_name}


def _names(command: str, paths: Iterable[str]) -> bool:
    return any(re.search(rf"(?<![\w/.-]){re.escape(path)}(?![\w-])", command) for path in paths)
