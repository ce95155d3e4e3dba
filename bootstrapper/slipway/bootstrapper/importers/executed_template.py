"""User data that the infrastructure provider executes as a Go template on their way to the machine.

What cloud-init is to fill in stands there as a Go string, which the provider hands on: {{ `{{ v1.instance_id }}` }}.
Here it becomes what cloud-init gets to see; what the provider fills in itself stays as it is.
"""

import re
from typing import Any

EXECUTES = "equinix"
"""The infrastructure. Source: the client of Cluster API Provider Packet."""

_QUOTED = re.compile(r"\{\{ *`(\{\{[^`{}]{1,200}\}\})` *\}\}")


def unquoted(tree: Any) -> Any:
    """Give a config with every quoted expression of cloud-init's as that expression."""
    if isinstance(tree, str):
        return _QUOTED.sub(r"\1", tree)
    if isinstance(tree, dict):
        return {key: unquoted(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [unquoted(value) for value in tree]
    return tree
