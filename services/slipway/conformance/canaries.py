"""Canaries: words that occur nowhere else, in every place of a bundle from where something could leak."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from slipway.conformance import material, requests
from slipway.conformance.session import Session
from slipway.contract.features import compute_features
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb


@dataclass(frozen=True, slots=True)
class Canaries:
    """Words that occur nowhere else: secret ones, and values that are not secret but no error's business either."""

    secret: tuple[bytes, ...]
    other: tuple[bytes, ...]


async def bundle(session: Session, info: provisionerpb.FormatInfo) -> tuple[provisionerpb.RenderRequest, Canaries]:
    """Give a request with canaries wherever the format takes anything."""
    declared = {support.id for support in info.features}
    request = await session.base(info)
    secret: list[str] = []
    other: list[str] = [material.canary(), material.canary()]
    request.request_tag, request.bundle.id = other

    def word(kind: list[str]) -> str:
        kind.append(material.canary())
        return kind[-1]

    if "os.files" in declared:
        found = requests.secret("conformance", "canary", word(secret).encode())
        of = requests.files(requests.file(word(other), word(secret).encode()), secrets=[found])
        segment = of.os.files[0].content.segments.add()
        segment.secret_ref.name, segment.secret_ref.key = found.name, found.key
        if info.kubernetes_input == requests.PLAN:
            of.plan.entrypoint.argv.append(word(other))
        request = requests.merged(request, of, info)
    request = requests.merged(request, _system(declared, lambda: word(secret), lambda: word(other)), info)
    if info.kubernetes_input == requests.INTENT:
        request.bundle.intent.kubernetes.node.labels[0].value = word(other)
        request.bundle.intent.cluster.name = word(other)
        secret += [
            one.value.decode()
            for one in request.bundle.secrets.secrets
            if one.key in ("token", "value") and one.value.isascii()
        ]
    return request, Canaries(tuple(map(str.encode, secret)), tuple(map(str.encode, other)))


def _system(declared: set[str], secret: Callable[[], str], other: Callable[[], str]) -> bundlepb.BootstrapBundle:
    """Give what the format takes of a system, with a canary in each value."""
    of = bundlepb.BootstrapBundle()
    if "os.users" in declared:
        user = of.os.users.add(name=other())
        if "os.users.password" in declared:
            user.password_hash.secret_ref.name, user.password_hash.secret_ref.key = "conformance", "password"
            of.secrets.secrets.append(requests.secret("conformance", "password", f"$6${secret()}".encode()))
    if "os.sysctls" in declared:
        of.os.sysctls.add(name=f"net.{other()}", value=other())
    if "os.containerd.registries.credentials" in declared:
        host = f"{other()}.example.com"
        registry = of.os.containerd.registries.add(host=host)
        registry.endpoints.add(url=f"https://{host}")
        registry.credentials.username = other()
        password = registry.credentials.password.secret_ref
        password.name, password.key = "conformance", "registry"
        of.secrets.secrets.append(requests.secret("conformance", "registry", secret().encode()))
    return of


def _no_text(bundle: bundlepb.BootstrapBundle) -> None:
    """Make secrets no text where text is asked for: who says why must not show them."""
    for held in bundle.secrets.secrets:
        held.value += b"\xff"
    for file in bundle.os.files:
        for segment in file.content.segments:
            if segment.HasField("secret_ref"):
                segment.encoding = contentpb.SPLICE_ENCODING_JSON_STRING


def each_field_broken(
    request: provisionerpb.RenderRequest,
) -> Iterator[tuple[str, provisionerpb.RenderRequest, bytes]]:
    """Give for every text of the bundle a request in which that text is one that nobody can use, and its canary.

    Lists give one field for all of their entries: the first entry's.
    """
    for path, keys in _texts(request.bundle, ""):
        sent = provisionerpb.RenderRequest()
        sent.CopyFrom(request)
        word = material.canary()
        *above, (name, index) = keys
        holder: Any = sent.bundle
        for step, number in above:
            value = getattr(holder, step)
            holder = value if number is None else value[number]
        # A NUL, a line break and what no name holds: something of it is refused wherever anything is looked at.
        text = f"{word} \x00\n/../"
        if index is None:
            setattr(holder, name, text)
        else:
            getattr(holder, name)[index] = text
        compute_features(sent.bundle)
        yield path, sent, word.encode()


def values(message: Message) -> Iterator[str]:
    """Give the texts of a bundle that stand in a sentence by no chance: long ones with a digit in them."""
    for field, value in message.ListFields():
        if field.name in _NOT_ITS_OWN:
            continue
        for entry in value if field.is_repeated else [value]:
            if field.message_type is not None:
                yield from values(entry)
            elif field.type == FieldDescriptor.TYPE_STRING and len(entry) >= _TELLING and any(map(str.isdigit, entry)):
                yield entry


_TELLING = 6
_NOT_ITS_OWN = frozenset({"id", "required_features", "secrets", "provenance", "origin"})
"""Fields of a bundle that no person writes."""

_Keys = tuple[tuple[str, int | None], ...]


def _texts(message: Message, path: str, keys: _Keys = ()) -> Iterator[tuple[str, _Keys]]:
    for field, value in message.ListFields():
        if field.name in _NOT_ITS_OWN:
            continue
        where = f"{path}.{field.name}".lstrip(".")
        if field.message_type is not None:
            for number, entry in enumerate(value if field.is_repeated else [value]):
                inner = (*keys, (field.name, number if field.is_repeated else None))
                yield from _texts(entry, f"{where}[{number}]" if field.is_repeated else where, inner)
        elif field.type == FieldDescriptor.TYPE_STRING:
            yield where, (*keys, (field.name, 0 if field.is_repeated else None))


def broken(request: provisionerpb.RenderRequest) -> list[provisionerpb.RenderRequest]:
    """Give requests that cannot be rendered, each for another reason, with the canaries in them."""
    made = []

    def copy() -> provisionerpb.RenderRequest:
        one = provisionerpb.RenderRequest()
        one.CopyFrom(request)
        made.append(one)
        return one

    copy().bundle.required_features.add(id="os.unheard_of", paths=["os"], count=1)
    copy().bundle.features_computed = False
    copy().format = request.request_tag
    target = copy().target
    target.distribution = target.os_version = target.architecture = target.infrastructure = request.request_tag
    copy().max_user_data_bytes = 1
    copy().target.Clear()
    copy().bundle.os.users.add(name=material.canary(), uid=1)
    for one in made[-1:]:
        compute_features(one.bundle)
    no_secrets = copy()
    del no_secrets.bundle.secrets.secrets[:]
    for file in copy().bundle.os.files:
        file.mode, file.owner = 0o7777, "1000"
    _no_text(copy().bundle)
    for file in copy().bundle.os.files:
        file.path = file.path.lstrip("/") + "/../" + file.path
    if request.bundle.HasField("intent"):
        for secret in copy().bundle.secrets.secrets:
            secret.value = secret.value[::-1] + secret.value
        copy().bundle.intent.kubernetes_version = "v0.0.0"
    return made
