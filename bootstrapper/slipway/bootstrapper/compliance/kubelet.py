"""Settings of the kubelet: fields of the KubeletConfiguration in a spec, and the arguments that win over them."""

import json
from typing import Any

from slipway.bootstrapper.compliance.additions import Additions
from slipway.bootstrapper.compliance.profile import Control, Kubelet
from slipway.bootstrapper.compliance.rule import Scalar, text_of
from slipway.contract.source_position import SourceError
from slipway.contract.yaml_limits import SHORT
from slipway.contract.yaml_source import load_documents
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import spec_pb2 as specpb

CONFIGURATION = "kubernetes.node.kubelet_configuration"
ARGUMENTS = "kubernetes.node.kubelet_arguments"


class KubeletSettings:
    """The KubeletConfiguration of a spec as a tree, and its arguments."""

    def __init__(self, additions: Additions, *, by_arguments: bool = False) -> None:
        """Read it; a document that is invalid stays as it is, and is refused elsewhere.

        With `by_arguments` settings are added as arguments, for an engine that takes no configuration.
        """
        self._additions = additions
        self._by_arguments = by_arguments
        self._node = additions.spec.kubernetes.node
        self._had = self._node.HasField("kubelet_configuration")
        self._tree: dict[str, Any] | None = _read(self._node.kubelet_configuration) if self._had else {}
        self._added: dict[str, list[str]] = {}

    def apply(self, name: str, control: Control, demand: Kubelet) -> None:
        """Apply what a control demands."""
        for index, argument in enumerate(self._node.kubelet_arguments):
            if demand.flag and argument.name == demand.flag and not argument.segments:
                path = f"{ARGUMENTS}[{index}]"
                self._additions.settle(name, control, demand, path=path, observed=argument.value)
        if self._by_arguments:
            self._add_argument(name, demand)
            return
        if not demand.kubelet or self._tree is None:
            return
        observed = _value(self._tree, demand.kubelet.split("."))
        if observed is None:
            if demand.default is not None and not self._has_argument(demand.flag):
                _put(self._tree, demand.kubelet.split("."), demand.default)
                self._added[demand.kubelet] = [name]
        elif not demand.accepts(text_of(observed)):
            others = self._added.get(demand.kubelet)
            if others:
                self._additions.add(f"{CONFIGURATION}.{demand.kubelet}", others[0])
                self._additions.refuse(name, control, f"{CONFIGURATION}.{demand.kubelet}")
            else:
                self._additions.refuse(name, control, CONFIGURATION)
        elif demand.kubelet in self._added:
            self._added[demand.kubelet].append(name)

    def write(self) -> None:
        """Put the settings that were added into the spec."""
        if not self._added or self._tree is None:
            return
        media_type = self._node.kubelet_configuration.media_type
        text = json.dumps(self._tree, ensure_ascii=False, indent=1)
        self._node.kubelet_configuration.CopyFrom(kubernetespb.OpaqueDocument(text=text))
        if media_type:
            self._node.kubelet_configuration.media_type = media_type
        for names in self._added.values():
            for name in names:
                self._additions.add(CONFIGURATION, name, shared=self._had)

    def _add_argument(self, name: str, demand: Kubelet) -> None:
        if demand.flag and demand.default is not None and not self._has_argument(demand.flag):
            self._node.kubelet_arguments.add(name=demand.flag, value=text_of(demand.default))
            self._additions.add(f"{ARGUMENTS}[{len(self._node.kubelet_arguments) - 1}]", name)

    def _has_argument(self, flag: str) -> bool:
        return bool(flag) and any(argument.name == flag for argument in self._node.kubelet_arguments)


def find_setting(spec: specpb.MachineBootstrapSpec, demand: Kubelet) -> str | None:
    """Give what a spec has of a setting: of the argument, which wins, or of the configuration; None for nothing."""
    node = spec.kubernetes.node
    written = [argument for argument in node.kubelet_arguments if demand.flag and argument.name == demand.flag]
    if written:
        return None if written[-1].segments else written[-1].value
    tree = _read(node.kubelet_configuration) if node.HasField("kubelet_configuration") else None
    value = _value(tree, demand.kubelet.split(".")) if tree and demand.kubelet else None
    return None if value is None else text_of(value)


def _read(document: kubernetespb.OpaqueDocument) -> dict[str, Any] | None:
    try:
        text = document.text if document.WhichOneof("source") == "text" else document.data.decode()
        (read,) = load_documents(text, file="", limits=SHORT)
    except (SourceError, UnicodeError, ValueError):
        return None
    tree = read.value
    return json.loads(json.dumps(tree)) if isinstance(tree, dict) else None


def _value(tree: dict[str, Any], parts: list[str]) -> object | None:
    value: object = tree
    for part in parts:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _put(tree: dict[str, Any], parts: list[str], value: Scalar | tuple[str, ...]) -> None:
    *folders, last = parts
    for part in folders:
        tree = tree.setdefault(part, {})
    tree[last] = list(value) if isinstance(value, tuple) else value
