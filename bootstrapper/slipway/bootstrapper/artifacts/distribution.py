"""The signed files of a distribution: image, wheels and bill of materials, beside the releases of machineadm.

They are too large for an envelope. What is signed is an in-toto statement with the SHA-256 of each file, so that cosign
and in-toto can check it as well: `distribution/slipway-VERSION.intoto.json`, with the files beside it.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator

from slipway.bootstrapper.artifacts import dsse
from slipway.bootstrapper.artifacts.dsse import load_unique
from slipway.bootstrapper.artifacts.refusal import ArtifactReason, ArtifactRefused
from slipway.bootstrapper.artifacts.trust import Trust
from slipway.bootstrapper.artifacts.version import Version

PAYLOAD_TYPE = "application/vnd.in-toto+json"
FOLDER = "distribution"
SUFFIX = ".intoto.json"
_CHUNK = 1 << 20

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)


class Digests(_Part):
    """The digest of a file."""

    sha256: Digest


class Subject(_Part):
    """A file of the distribution; its name has no folder."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$")
    digest: Digests


class Predicate(_Part):
    """Which version the files are of, and from when on they must not be installed."""

    version: str
    expires: AwareDatetime

    @field_validator("version")
    @classmethod
    def _is_a_version(cls, value: str) -> str:
        Version.parse(value)
        return value


class Distribution(_Part):
    """An in-toto statement about the files of a version."""

    type: Literal["https://in-toto.io/Statement/v1"] = Field(default="https://in-toto.io/Statement/v1", alias="_type")
    predicate_type: Literal["https://slipway.dev/distribution/v1"] = Field(
        default="https://slipway.dev/distribution/v1", alias="predicateType"
    )
    subject: tuple[Subject, ...] = Field(min_length=1, max_length=64, strict=False)
    predicate: Predicate

    def serialise(self) -> bytes:
        """Return the statement as bytes: the same for the same files."""
        return self.model_dump_json(by_alias=True, indent=2).encode() + b"\n"

    @property
    def file_name(self) -> str:
        """Name of its envelope."""
        return f"slipway-{self.predicate.version}{SUFFIX}"


@dataclass(frozen=True, slots=True)
class DistributionFolder:
    """A folder with an envelope and the files that it names, and nothing else."""

    root: Path

    def envelopes(self) -> Iterator[Path]:
        """Return the envelopes in the order of their names."""
        yield from sorted(self.root.glob(f"*{SUFFIX}"))

    def verify(self, envelope: Path, trust: Trust) -> Distribution:
        """Return the distribution of an envelope, all of whose files are there as it says.

        Raises:
            ArtifactRefused: any reason of a release, FILE_MISSING, FILE_DIFFERS, or UNSIGNED for another file.
        """
        distribution = _open(dsse.read_envelope(envelope), trust)
        for subject in distribution.subject:
            path = self.root / subject.name
            if not path.is_file():
                raise ArtifactRefused(ArtifactReason.FILE_MISSING, f"{subject.name} is missing")
            if file_digest(path) != subject.digest.sha256:
                raise ArtifactRefused(ArtifactReason.FILE_DIFFERS, f"{subject.name} is not what was signed")
        signed = {envelope.name, *(subject.name for subject in distribution.subject)}
        others = sorted(path.name for path in self.root.iterdir() if path.name not in signed)
        if others:
            raise ArtifactRefused(
                ArtifactReason.UNSIGNED, f"{len(others)} more files are beside the signed ones: move them away"
            )
        return distribution


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _open(envelope: bytes, trust: Trust) -> Distribution:
    payload = dsse.open_envelope(envelope, PAYLOAD_TYPE, trust.keys)
    try:
        load_unique(payload)
    except (ValueError, RecursionError):
        text = "the statement must be a JSON object in UTF-8, with no member twice"
        raise ArtifactRefused(ArtifactReason.MALFORMED, text) from None
    try:
        distribution = Distribution.model_validate_json(payload)
    except ValidationError as error:
        fields = sorted(
            {".".join(map(str, problem["loc"])) or "document" for problem in error.errors(include_input=False)}
        )
        text = f"the statement is invalid or of a newer Slipway: {', '.join(fields)}"
        raise ArtifactRefused(ArtifactReason.MALFORMED, text) from None
    trust.check("slipway", distribution.predicate.version, distribution.predicate.expires)
    return distribution
