"""What each infrastructure takes as user data: a table, because the numbers are facts and not code."""

import base64
import gzip
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from slipway.contract.errors import UnsupportedTarget, Violation
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


class LargerLimit(BaseModel):
    """A higher limit, and the condition under which it holds, as a clause."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    limit_bytes: PositiveInt
    provided: str


class Infrastructure(BaseModel):
    """One row of the table.

    Attributes:
        limit_bytes: most bytes that it takes in any case.
        counted: how it counts them.
        gzip: whether user data that Slipway compressed reaches the first-boot system intact.
        verbatim: whether user data arrives as it was rendered.
        only: by format of the data Secret, the one format of a provisioner that it reads, where it parses them.
        source: where the facts are from.
        larger: a higher limit that holds under a condition.
        unchanged: fields that differ where the provider is set to pass user data on as they are.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    limit_bytes: PositiveInt
    counted: Counted
    gzip: bool
    verbatim: bool
    source: str
    only: dict[str, str] = Field(default_factory=dict)
    larger: LargerLimit | None = None
    unchanged: dict[str, Any] = Field(default_factory=dict)

    def reads(self, info: provisionerpb.FormatInfo) -> bool:
        """Return whether a machine of it can have user data of a format."""
        return self.only.get(info.secret_format, info.format) == info.format

    def count(self, data: bytes) -> int:
        """Return the bytes of user data as this infrastructure counts them."""
        if self.counted is Counted.RAW:
            return len(data)
        if self.counted is Counted.GZIP_BASE64 and not data.startswith(b"\x1f\x8b"):
            data = compress(data)
        return len(base64.b64encode(data))

    def assumption(self) -> str:
        """Return the condition of the higher limit and what holds without it, or "" where there is no such limit."""
        return f"{self.larger.provided}; without that it takes {self.limit_bytes} bytes" if self.larger else ""

    def when_unchanged(self) -> "Infrastructure":
        """Return the row for machines whose provider passes user data on as they are."""
        return Infrastructure.model_validate(self.model_dump() | self.unchanged | {"unchanged": {}})


UNKNOWN = Infrastructure(limit_bytes=ANY_LIMIT, counted=Counted.RAW, gzip=False, verbatim=True, source="unknown")


@cache
def infrastructures() -> dict[str, Infrastructure]:
    """Return all rows by name."""
    text = files("slipway.bootstrapper.delivery").joinpath("infrastructures.yaml").read_text()
    return {name: Infrastructure.model_validate(row) for name, row in yaml.safe_load(text).items()}


@cache
def _unchanged() -> dict[str, Infrastructure]:
    return {name: row.when_unchanged() for name, row in infrastructures().items()}


def infrastructure(target: clusterpb.Target, *, verbatim: bool = False) -> Infrastructure:
    """Return the row of a machine's infrastructure; a Secret's size where it is not in the table.

    Args:
        target: where the machine runs.
        verbatim: for a format that must arrive unchanged, which it does only under settings that change nothing.
    """
    rows = _unchanged() if verbatim or target.user_data_unchanged else infrastructures()
    return rows.get(target.infrastructure, UNKNOWN)


def check_carried(info: provisionerpb.FormatInfo, target: clusterpb.Target) -> None:
    """Check that the infrastructure hands a format's user data to the machine as they are, where they must be.

    Raises:
        UnsupportedTarget: it wraps or rewrites them.
    """
    if not info.verbatim or infrastructure(target).verbatim:
        return
    name = "target.infrastructure"
    remedy = "choose an infrastructure that passes user data on unchanged, or another format"
    raise UnsupportedTarget(
        f"format {info.format} must reach the machine unchanged, and infrastructure {target.infrastructure} does "
        "not do that",
        violations=[Violation(name, "does not hand user data to the machine unchanged", name, remedy)],
    )


def check_assumption(target: clusterpb.Target, *, verbatim: bool, counted: int) -> list[diagnosticpb.Diagnostic]:
    """Return a warning about user data that the infrastructure takes under a condition only, or nothing.

    Args:
        target: where the machine runs.
        verbatim: the format must arrive unchanged.
        counted: bytes of the user data as the infrastructure counts them.
    """
    row = infrastructure(target, verbatim=verbatim)
    if counted <= row.limit_bytes or row.larger is None:
        return []
    return [
        diagnosticpb.Diagnostic(
            severity=diagnosticpb.SEVERITY_WARNING,
            code="INFRASTRUCTURE_ASSUMED",
            message=f"the user data has {counted} bytes, which {target.infrastructure} takes if {row.assumption()}",
            field_path="target.infrastructure",
        )
    ]


def compress(data: bytes) -> bytes:
    """Compress without a time in the header, so that the result depends on the input alone."""
    return gzip.compress(data, compresslevel=9, mtime=0)
