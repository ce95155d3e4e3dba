"""JSON patches (RFC 6902) as far as a ClusterClass may hold them: add, replace and remove.

Indexes are those that Cluster API takes: an item is added in front (0) or at the end (-), never replaced or removed.
"""

from copy import deepcopy
from typing import Any, Literal

from slipway.contract.source_position import Position
from slipway.contract.yaml_document import Shape, Tree

Operation = Literal["add", "replace", "remove"]
_INDEX = {"add": "arrays can only be accessed at 0 (in front) or - (at the end)"}
_NO_PARENT = "the template has no such place: a parent of it is missing"
_NO_INDEX = "an item of a list can be added, not replaced or removed"


class PatchError(ValueError):
    """The patch does not apply; the message repeats nothing of it."""


def checked(operation: Operation, path: str) -> list[str]:
    """Split a path.

    Raises:
        PatchError: Cluster API does not take it.
    """
    if not path.startswith("/spec"):
        raise PatchError("must start with /spec")
    parts = path.split("/")[1:]
    for part in parts:
        number = part.removeprefix("-").removeprefix("+")
        if number.isdecimal() and not (operation == "add" and int(number) == 0):
            raise PatchError(_INDEX.get(operation, _NO_INDEX))
    return [part.replace("~1", "/").replace("~0", "~") for part in parts]


class Patched:
    """A copy of a document that patches are applied to, one after the other; it still knows where its fields stand."""

    def __init__(self, tree: Tree, shape: Shape) -> None:
        """Copy."""
        self.tree = deepcopy(tree)
        self.shape = deepcopy(shape)

    def apply(self, operation: Operation, path: list[str], value: Tree) -> None:
        """Apply an operation.

        Raises:
            PatchError: the document has no such place.
        """
        node, shape = self.tree, self.shape
        for part in path[:-1]:
            node, key = _child(node, part)
            shape = shape.children.get(key) or Shape(shape.start)
        if isinstance(node, list):
            _into_list(operation, node, shape, path[-1], deepcopy(value))
        elif isinstance(node, dict):
            _into_mapping(operation, node, shape, path[-1], deepcopy(value))
        else:
            raise PatchError(_NO_PARENT)


def _child(node: Tree, part: str) -> tuple[Tree, str | int]:
    """Give a part of a tree, and its key."""
    if isinstance(node, dict) and part in node:
        return node[part], part
    if isinstance(node, list) and part.isdecimal() and int(part) < len(node):
        return node[int(part)], int(part)
    raise PatchError(_NO_PARENT)


def _into_list(operation: Operation, node: list[Any], shape: Shape, key: str, value: Tree) -> None:
    if operation != "add" or (key != "-" and not key.isdecimal()):
        raise PatchError(_NO_INDEX)
    if key == "-":
        node.append(value)
        return
    node.insert(0, value)
    places = {_next(index): place for index, place in shape.keys.items()}
    children = {_next(index): child for index, child in shape.children.items()}
    shape.keys, shape.children = {0: shape.start, **places}, {0: Shape(shape.start), **children}


def _next(index: str | int) -> str | int:
    return index + 1 if isinstance(index, int) else index


def _into_mapping(operation: Operation, node: dict[str, Any], shape: Shape, key: str, value: Tree) -> None:
    if operation != "add" and key not in node:
        raise PatchError("the template has no such field: replace and remove need one, add does not")
    place: Position | None = shape.keys.pop(key, None)
    shape.children.pop(key, None)
    if operation == "remove":
        del node[key]
        return
    node[key] = value
    if place is not None:
        shape.keys[key], shape.children[key] = place, Shape(place)
