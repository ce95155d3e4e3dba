"""The Secrets that machines refer to, as documents beside the specs that `slipway import` prints."""

import base64
from collections.abc import Iterable
from typing import Any

from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.documents.native import metadata
from slipway.bootstrapper.placeholders import PLACEHOLDER


def secret_documents(questions: Iterable[MachineQuestion]) -> list[dict[str, Any]]:
    """Give a Secret for each that the files have, with the keys that machines refer to; placeholders are none."""
    data: dict[tuple[str, str], dict[str, str]] = {}
    for question in questions:
        for secret in question.secrets.secrets:
            if secret.value != PLACEHOLDER:
                value = base64.b64encode(secret.value).decode()
                data.setdefault((question.standing.namespace, secret.name), {})[secret.key] = value
    return [
        {"apiVersion": "v1", "kind": "Secret", "metadata": metadata(name, namespace), "data": values}
        for (namespace, name), values in data.items()
    ]
