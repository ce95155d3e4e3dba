"""Where a machine's credentials go: a new file that only its owner reads, and never a terminal."""

import base64
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from slipway.contract.yaml_encode import dump
from slipway.directory.failures import ConfigurationInvalid

COMPUTER_NAME = "computer-name"
DOMAIN = "domain"
PASSWORD = "one-time-password"  # noqa: S105  # the key in the Secret
BLOB = "blob"
_LONGEST = 253
_PRIVATE = 0o600


@contextmanager
def new_private_file(path: Path) -> Iterator[Callable[[bytes], None]]:
    """Give a function that writes a new file of mode 0600; after an error in the block there is no file.

    It is made at once, so that nothing is done in the domain whose result could not be kept.

    Raises:
        ConfigurationInvalid: there is something of that name already.
        OSError: it cannot be made.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
    except FileExistsError:
        raise ConfigurationInvalid(f"{path}: exists; credentials go to a new file only") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), _PRIVATE)
            yield lambda content: _write(content, file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _write(content: bytes, descriptor: int) -> None:
    while content:
        content = content[os.write(descriptor, content) :]
    os.fsync(descriptor)


def secret_manifest(name: str, namespace: str, values: Mapping[str, bytes]) -> bytes:
    """Give a Secret as a YAML document.

    Raises:
        ConfigurationInvalid: no Secret can have that name.
    """
    if len(name) > _LONGEST:
        raise ConfigurationInvalid(f"name of the Secret: must have at most {_LONGEST} characters")
    data = {key: base64.b64encode(value).decode() for key, value in values.items()}
    metadata = {"name": name, "namespace": namespace}
    document = {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata, "data": data}
    return dump(document).encode()
