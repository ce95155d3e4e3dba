"""What a worker has no use for of a config that was written for control planes, too."""

from collections.abc import Collection, Iterator

from slipway.contract.source_position import FieldPath
from slipway.contract.yaml_document import Tree

_OF_CONTROL_PLANES = ("clusterConfiguration", "initConfiguration")


def unused_by_workers(tree: Tree, carried: Collection[FieldPath]) -> Iterator[FieldPath]:
    """Give the outermost fields of which nothing counts on a worker.

    Args:
        tree: the config, as it was written.
        carried: fields, as written, that a joining machine gets wherever they stand.
    """
    for name in _OF_CONTROL_PLANES if isinstance(tree, dict) else ():
        if tree.get(name):
            yield from _unused(tree[name], (name,), carried)


def _unused(tree: Tree, path: FieldPath, carried: Collection[FieldPath]) -> Iterator[FieldPath]:
    if not any(entry[: len(path)] == path for entry in carried):
        yield path
    elif isinstance(tree, dict):
        for key in tree:
            yield from _unused(tree[key], (*path, key), carried)
