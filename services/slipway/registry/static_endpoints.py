"""Provisioners from a file of the operator, for those that do not register themselves.

Push registration must not be the only way in, else the order in which processes start would become a problem. The file
is YAML and is read again when it changes::

    endpoints:
      - name: bottlerocket.example.com
        endpoint: 10.0.0.7:9443
"""

from collections.abc import Set as AbstractSet
from pathlib import Path

import structlog
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from slipway.contract.errors import SlipwayError
from slipway.registry.announcement import Gate
from slipway.v1alpha1 import registry_service_pb2 as registrypb

_log = structlog.get_logger("slipway.registry")


class StaticEndpointsError(Exception):
    """The file cannot be used; the text names it."""


class _Endpoint(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str
    endpoint: str


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    endpoints: list[_Endpoint]


class StaticEndpoints:
    """The file, followed."""

    def __init__(self, path: Path, gate: Gate) -> None:
        """Read it once.

        Raises:
            StaticEndpointsError: it cannot be read, is malformed, or names what may not be registered.
        """
        self._path = path
        self._gate = gate
        self._seen = _fingerprint(path)
        self._current = self._read()

    def current(self) -> AbstractSet[tuple[str, str]]:
        """Give name and endpoint of each; a broken change keeps the last good ones."""
        try:
            now = _fingerprint(self._path)
            if now != self._seen:
                self._current = self._read()
                self._seen = now
        except StaticEndpointsError:
            _log.warning("static endpoints file unusable, last valid one kept")
        return self._current

    def _read(self) -> frozenset[tuple[str, str]]:
        try:
            document = yaml.safe_load(self._path.read_text(encoding="utf-8"))
            endpoints = _File.model_validate(document).endpoints
        except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError):
            raise StaticEndpointsError(
                f"{self._path}: must be YAML with a list 'endpoints' of 'name' and 'endpoint'"
            ) from None
        for index, endpoint in enumerate(endpoints):
            request = registrypb.RegisterRequest(name=endpoint.name, instance_id="static", endpoint=endpoint.endpoint)
            try:
                self._gate.check_fields(request)
            except SlipwayError as error:
                fields = ", ".join(violation.path for violation in error.violations)
                raise StaticEndpointsError(f"{self._path}: endpoints[{index}]: {error.message} {fields}") from None
        return frozenset((endpoint.name, endpoint.endpoint) for endpoint in endpoints)


def _fingerprint(path: Path) -> tuple[int, int, int]:
    try:
        status = path.stat()
    except OSError:
        raise StaticEndpointsError(f"{path}: cannot be read") from None
    return status.st_mtime_ns, status.st_ino, status.st_size
