"""Runs inside the Windows root: reads PowerShell on standard input and gives where its grammar does not hold."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import tree_sitter
import tree_sitter_powershell


def main() -> None:
    """Writes one JSON document: the erroneous and the missing nodes of the tree."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))
    tree = parser.parse(sys.stdin.buffer.read())
    json.dump({"errors": [_place(node) for node in _broken(tree.root_node)]}, sys.stdout)


def _broken(node: Any) -> Iterator[Any]:
    if node.is_error or node.is_missing:
        yield node
        return
    if node.has_error:
        for child in node.children:
            yield from _broken(child)


def _place(node: Any) -> dict[str, Any]:
    row, column = node.start_point
    message = f"missing {node.type}" if node.is_missing else "not PowerShell from here on"
    return {"line": row + 1, "column": column + 1, "message": message}


if __name__ == "__main__":
    main()
