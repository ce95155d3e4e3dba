"""What stands in a document where a secret was left out: `{hidden: 22 bytes}`.

It is a mapping, not text: every field that holds a secret is text, so no reader of specs, in YAML or JSON, and no
schema of a custom resource takes it for a value.
"""

from typing import Any

_KEY = "hidden"

REFUSAL = "the value is missing: slipway import leaves secrets out. Write the value here, or import with --show-secrets"
"""What is said of a field that holds no value but this."""


def left_out(value: str) -> dict[str, str]:
    """Give what stands in place of a value: its size."""
    size = len(value.encode())
    return {_KEY: f"{size} {'byte' if size == 1 else 'bytes'}"}


def is_left_out(tree: Any) -> bool:
    """Return whether a plain tree is what stands in place of a value."""
    return isinstance(tree, dict) and set(tree) == {_KEY}
