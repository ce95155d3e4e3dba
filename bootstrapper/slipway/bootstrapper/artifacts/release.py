"""The manifest of a release: a version of a program, and the digest of each platform's binary."""

import json
import re
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic.alias_generators import to_camel

from slipway.bootstrapper.artifacts.dsse import load_unique
from slipway.bootstrapper.artifacts.refusal import ArtifactReason, ArtifactRefused
from slipway.bootstrapper.artifacts.version import Version

PAYLOAD_TYPE = "application/vnd.slipway.release.v1+json"
"""DSSE payload type. A field that changes what a release means gets a new type: unknown fields are refused."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T")
Word = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]


class _Part(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, alias_generator=to_camel, populate_by_name=True,
        hide_input_in_errors=True,
    )  # fmt: skip


class Binary(_Part):
    """The program for one platform; `sha256` is in lower-case hexadecimal digits, `size` in bytes."""

    os: Literal["linux", "windows"]
    architecture: Word
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(gt=0, le=1 << 30)

    @property
    def path(self) -> str:
        """Where the file is below the root of a release folder, a bucket or a gateway."""
        return blob_path(self.sha256)


class Release(_Part):
    """One version of a program.

    Attributes:
        name: the program.
        version: MAJOR.MINOR.PATCH.
        expires: from then on no new machine gets it.
        step_data: version of the step data that the program executes.
        binaries: one for each platform.
    """

    name: Word
    version: str
    expires: AwareDatetime
    step_data: int = Field(ge=1, le=1000)
    binaries: tuple[Binary, ...] = Field(min_length=1, max_length=32, strict=False)

    @field_validator("version")
    @classmethod
    def _is_a_version(cls, value: str) -> str:
        Version.parse(value)
        return value

    @field_validator("binaries")
    @classmethod
    def _platforms_differ(cls, value: tuple[Binary, ...]) -> tuple[Binary, ...]:
        if len({(binary.os, binary.architecture) for binary in value}) < len(value):
            raise ValueError("must have one binary for each platform")
        return value

    @classmethod
    def parse(cls, payload: bytes) -> "Release":
        """Read a manifest.

        Raises:
            ArtifactRefused: MALFORMED; the text names the fields.
        """
        try:
            document = load_unique(payload)
        except (ValueError, RecursionError):
            text = "the manifest must be a JSON object in UTF-8, with no member twice"
            raise ArtifactRefused(ArtifactReason.MALFORMED, text) from None
        fields: set[str] = set()
        if isinstance(document, dict) and not _DATE.match(str(document.get("expires"))):
            # A number in a text would be taken for seconds, or for milliseconds where it is large.
            fields.add("expires")
        try:
            made = cls.model_validate_json(payload, by_alias=True, by_name=False)
        except ValidationError as error:
            fields |= {
                ".".join(map(str, mistake["loc"])) or "document" for mistake in error.errors(include_input=False)
            }
        if fields:
            problem = f"the manifest is invalid or of a newer Slipway: {', '.join(sorted(fields))}"
            raise ArtifactRefused(ArtifactReason.MALFORMED, problem)
        return made

    def serialise(self) -> bytes:
        """Give the manifest as bytes: the same for the same release."""
        return json.dumps(self.model_dump(mode="json", by_alias=True), indent=2).encode() + b"\n"

    def binary(self, os: str, architecture: str) -> Binary:
        """Give the binary of a platform.

        Raises:
            ArtifactRefused: NO_PLATFORM.
        """
        for binary in self.binaries:
            if (binary.os, binary.architecture) == (os, architecture):
                return binary
        raise ArtifactRefused(
            ArtifactReason.NO_PLATFORM, f"{self.name} {self.version} has no binary for {os}/{architecture}"
        )

    @property
    def manifest_path(self) -> str:
        """Where the signed manifest is below the root of a release folder."""
        return f"manifests/{self.name}-{self.version}.json"


def blob_path(sha256: str) -> str:
    """Give the path of a file by its digest."""
    return f"sha256/{sha256}"
