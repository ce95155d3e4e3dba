"""What each infrastructure takes as user data: a table, because the numbers are facts and not code."""

import base64
from enum import StrEnum
from functools import cache
from importlib.resources import files

import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from bootstrapper.delivery.compression import compress
from services.contract.errors import UnsupportedTarget, Violation
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

ANY_LIMIT = 1024 * 1024
"""Limit where the infrastructure is unknown: what a Kubernetes Secret holds."""


class Counted(StrEnum):
    """How an infrastructure counts bytes."""

    RAW = "raw"
    BASE64 = "base64"
    GZIP_BASE64 = "gzip-base64"


class FormatRow(BaseModel):
    """What differs for one format, by the word in the data Secret's key "format"."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    limit_bytes: PositiveInt
    source: str


class Infrastructure(BaseModel):
    """One row of the table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    limit_bytes: PositiveInt
    counted: Counted
    gzip: bool
    verbatim: bool
    source: str
    formats: dict[str, "FormatRow"] = Field(default_factory=dict)

    def count(self, data: bytes) -> int:
        """Give the bytes of user data as this infrastructure counts them."""
        if self.counted is Counted.RAW:
            return len(data)
        if self.counted is Counted.GZIP_BASE64 and not data.startswith(b"\x1f\x8b"):
            data = compress(data)
        return len(base64.b64encode(data))


UNKNOWN = Infrastructure(limit_bytes=ANY_LIMIT, counted=Counted.RAW, gzip=False, verbatim=True, source="unknown")


@cache
def infrastructures() -> dict[str, Infrastructure]:
    """Give all rows by name."""
    text = files("bootstrapper.delivery").joinpath("infrastructures.yaml").read_text()
    return {name: Infrastructure.model_validate(row) for name, row in yaml.safe_load(text).items()}


def check_carried(info: provisionerpb.FormatInfo, target: clusterpb.Target) -> None:
    """Check that the infrastructure hands a format's user data to the machine as they are, where they must be.

    Raises:
        UnsupportedTarget: it wraps or rewrites them.
    """
    if not info.verbatim or infrastructure(target.infrastructure).verbatim:
        return
    name = "target.infrastructure"
    remedy = "choose an infrastructure that passes user data on unchanged, or another format"
    raise UnsupportedTarget(
        f"format {info.format} must reach the machine unchanged, and infrastructure {target.infrastructure} does "
        "not do that",
        violations=[Violation(name, "does not hand user data to the machine unchanged", name, remedy)],
    )


def infrastructure(name: str, *, secret_format: str = "") -> Infrastructure:
    """Give the row of an infrastructure, as it is for a format; one of a Secret's size where it is not in the table."""
    row = infrastructures().get(name, UNKNOWN)
    own = row.formats.get(secret_format)
    return row if own is None else row.model_copy(update={"limit_bytes": own.limit_bytes, "source": own.source})


def assumption(name: str, *, secret_format: str) -> str:
    """Say what has to be so that an infrastructure takes more of a format than of others; "" where it does not."""
    plain, own = infrastructure(name), infrastructure(name, secret_format=secret_format)
    return "" if own == plain else f"{own.source}; without that it takes {plain.limit_bytes} bytes"


def assumed(name: str, *, secret_format: str, counted: int) -> list[diagnosticpb.Diagnostic]:
    """Warn of user data that the infrastructure takes only since something is assumed of it."""
    if counted <= infrastructure(name).limit_bytes or not assumption(name, secret_format=secret_format):
        return []
    message = (
        f"the user data has {counted} bytes, which {name} takes if {assumption(name, secret_format=secret_format)}"
    )
    return [
        diagnosticpb.Diagnostic(
            severity=diagnosticpb.SEVERITY_WARNING,
            code="INFRASTRUCTURE_ASSUMED",
            message=message,
            field_path="target.infrastructure",
        )
    ]
