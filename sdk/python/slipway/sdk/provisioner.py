"""What the author of a provisioner writes, and what it is given.

It is a protocol and not a class to inherit from, so that a provisioner is an ordinary object that a test can
call without any service around it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from slipway.contract.content import SecretIndex, content_bytes, segment_bytes
from slipway.contract.errors import BundleInvalid, Violation
from slipway.sdk.refusal import Refusal
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb


@dataclass(frozen=True, slots=True)
class UserData:
    """What a render gives: the user data and its companion files.

    Attributes:
        content: the user data, not compressed. It may hold secrets, so it is not in the repr.
        attachments: companion files; the SDK fills in their hashes.
    """

    content: bytes = field(repr=False)
    attachments: tuple[provisionerpb.Attachment, ...] = field(default=(), repr=False)


class RenderContext:
    """What a render may use besides the bundle and the target, and where it says what it noticed.

    Attributes:
        format: the format that was asked for, as the provisioner declared it.
        secrets: the bundle's secrets.
        refusals: what was refused so far.
        diagnostics: what was remarked so far.
    """

    def __init__(self, *, format_info: provisionerpb.FormatInfo, secrets: SecretIndex) -> None:
        """Start with no refusals and no remarks."""
        self.format = format_info
        self.secrets = secrets
        self.refusals: list[Refusal] = []
        self.diagnostics: list[diagnosticpb.Diagnostic] = []

    def content(self, content: contentpb.Content, path: str) -> bytes:
        """Give the bytes of a content; `path` is its field path, for errors.

        Raises:
            BundleInvalid: a part is known only on the machine, or refers to a secret that the bundle does
                not hold.
        """
        return content_bytes(content, self.secrets, path=path)

    def segment(self, segment: contentpb.Segment, path: str) -> bytes:
        """Give the bytes of one segment of a content, as `content` does."""
        return segment_bytes(segment, self.secrets, path=path)

    def secret(self, value: secretpb.SecretValue, path: str) -> str:
        """Give the text of a secret value.

        Raises:
            BundleInvalid: it is not in the bundle, or is no UTF-8.
        """
        if value.WhichOneof("source") == "value":
            return value.value
        raw = self.secrets.value(value.secret_ref, path=f"{path}.secret_ref")
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise BundleInvalid(
                "a secret that is used as text is no UTF-8", violations=[Violation(path, "must be UTF-8")]
            ) from None

    def refuse(self, path: str, feature: str, message: str, *, remedy: str = "") -> None:
        """Refuse an item and go on; the SDK raises all refusals together in the end.

        `remedy` is what the person can do in the spec, "name the owner": the beginning of a sentence, without its dot.
        """
        self.refusals.append(Refusal(path, feature, message, remedy))

    def remark(
        self,
        code: str,
        message: str,
        *,
        path: str = "",
        severity: diagnosticpb.Severity.ValueType = diagnosticpb.SEVERITY_WARNING,
    ) -> None:
        """Add a diagnostic. `code` is UPPER_SNAKE_CASE; `message` one sentence without a bundle's value."""
        self.diagnostics.append(diagnosticpb.Diagnostic(severity=severity, code=code, message=message, field_path=path))


class Provisioner(Protocol):
    """One provisioner. `render` must be pure: no clock, no random number, no file, no network."""

    @property
    def name(self) -> str:
        """Name under which it registers, e.g. "cloud-init"."""

    @property
    def version(self) -> str:
        """Semantic version of the implementation. Anything that changes the output needs a new one."""

    @property
    def documentation_url(self) -> str:
        """Where people can read about it; may be empty."""

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        """Give the formats that it serves, the default one first. Always the same."""

    def render(self, bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
        """Turn a bundle into user data. It holds only features that the format declares.

        What is not supported after all is refused: by `ctx.refuse` for one item, by `refuse` to stop at
        once.
        """
