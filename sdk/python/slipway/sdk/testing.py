"""What the tests of a provisioner need: small bundles in the form that the contract promises, and requests for them."""

from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from slipway.contract.content import literal
from slipway.contract.errors import SlipwayError
from slipway.contract.features import compute_features
from slipway.sdk.core import ProvisionerCore
from slipway.sdk.provisioner import Provisioner
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb


def file(path: str, data: bytes, *, owner: str = "root", group: str = "root", mode: int = 0o644) -> ospb.File:
    """Make a file as it stands in a bundle: owner, group and mode are always said, literals are bytes."""
    return ospb.File(path=path, content=literal(data), owner=owner, group=group, mode=mode)


def secret(name: str, key: str, value: bytes) -> secretpb.Secret:
    """Make a secret of a user's."""
    return secretpb.Secret(name=name, key=key, kind=secretpb.SECRET_KIND_OPAQUE, value=value)


def bundle(
    system: ospb.OperatingSystem | None = None,
    *,
    argv: Iterable[str] = ("sh", "/etc/slipway/run"),
    secrets: Iterable[secretpb.Secret] = (),
) -> bundlepb.BootstrapBundle:
    """Make a bundle with an entry point and computed features."""
    made = bundlepb.BootstrapBundle(
        id="machine-1",
        os=system,
        plan=planpb.Plan(entrypoint=planpb.EntryPoint(argv=argv, unit_name="slipway-bootstrap.service")),
        secrets=secretpb.SecretMaterial(secrets=secrets),
    )
    compute_features(made)
    return made


def request(
    provisioner: Provisioner, of: bundlepb.BootstrapBundle, *, format_id: str = ""
) -> provisionerpb.RenderRequest:
    """Make a request for the provisioner's default format, or `format_id`, and that format's default target.

    The features of the bundle are computed anew.
    """
    info = next(info for info in provisioner.formats() if format_id in {"", info.format})
    compute_features(of)
    return provisionerpb.RenderRequest(request_tag="tag-1", bundle=of, target=info.default_target, format=info.format)


def render(provisioner: Provisioner, of: bundlepb.BootstrapBundle, *, format_id: str = "") -> bytes:
    """Render a bundle as the service would, and give the user data.

    Raises:
        SlipwayError: the bundle is refused.
    """
    return ProvisionerCore(provisioner).render_now(request(provisioner, of, format_id=format_id)).user_data


def one_field_bundles() -> Iterator[bundlepb.BootstrapBundle]:
    """Give bundles that each have one field set (and what is above it), for every field of `os`, `commands`, `plan`.

    A provisioner must render or refuse each of them: whatever is set may come, also in a future bundle.
    """
    for name in ("os", "commands", "plan"):
        empty = bundlepb.BootstrapBundle()
        for part in _one_field_messages(type(getattr(empty, name)), depth=6):
            made = bundlepb.BootstrapBundle(id="machine-1")
            getattr(made, name).CopyFrom(part)
            compute_features(made)
            yield made


def _one_field_messages(kind: type[Message], *, depth: int) -> Iterator[Message]:
    for field in kind.DESCRIPTOR.fields:
        for value in _examples(kind, field, depth=depth):
            yield kind(**{field.name: [value] if field.is_repeated else value})


def _examples(kind: type[Message], field: Any, *, depth: int) -> Iterator[Any]:
    if field.message_type is not None:
        holder = getattr(kind(), field.name)
        below = type(holder.add() if field.is_repeated else holder)
        yield below()
        if depth and not field.message_type.full_name.startswith("google."):
            yield from _one_field_messages(below, depth=depth - 1)
    elif field.enum_type is not None:
        yield from (value.number for value in field.enum_type.values)
    else:
        texts = {FieldDescriptor.TYPE_STRING: "x", FieldDescriptor.TYPE_BYTES: b"x"}
        yield texts.get(field.type, 1)


def outcome(provisioner: Provisioner, of: bundlepb.BootstrapBundle, *, format_id: str = "") -> str:
    """Render a bundle and give "rendered", or "refused" where there was an error of the contract.

    Raises:
        Exception: anything else that the provisioner raised, which is a defect.
    """
    try:
        render(provisioner, of, format_id=format_id)
    except SlipwayError:
        return "refused"
    return "rendered"
