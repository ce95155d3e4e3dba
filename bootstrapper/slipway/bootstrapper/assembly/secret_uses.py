"""Holds the secrets of a question against the places that refer to them, before anything is made of either.

Here a place still is the field of the request. Later, contents are joined and steps are files.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache

from google.protobuf.message import Message

from slipway.bootstrapper.assembly.accounts import is_hash
from slipway.bootstrapper.assembly.paths import describe
from slipway.bootstrapper.assembly.subject import CheckedSubject, written_places
from slipway.bootstrapper.field_index import FieldIndex, item_index
from slipway.bootstrapper.placeholders import PLACEHOLDER
from slipway.contract.errors import SecretExpired, SecretMissing, SpecInvalid, Violation
from slipway.contract.items import Item
from slipway.contract.secret_references import messages_of, references
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import secret_pb2 as secretpb

_JSON = contentpb.SPLICE_ENCODING_JSON_STRING


def secrets_field(subject: CheckedSubject) -> str:
    """Give the field of the request in which the secrets of a question stand."""
    return "secrets" if subject.plan is not None else "credentials"


def remedy_of_missing(subject: CheckedSubject) -> str:
    """Say what to do about a secret that is not there: ProvisioningService reads none by itself."""
    if subject.plan is not None:
        return "add it to secrets.secrets of the request"
    return "add its value to credentials.secrets of the request, or create that Secret with that key where it is read"


def check_secrets(
    subject: CheckedSubject, request_secrets: Sequence[secretpb.Secret], available: Iterable[secretpb.Secret]
) -> None:
    """Check all secrets that a question refers to.

    Args:
        subject: the machine.
        request_secrets: the secrets of the request, in its order.
        available: all that are there.

    Raises:
        SecretMissing: some are not there.
        SpecInvalid: the value of one cannot stand where it is referred to; a foreign plan's request holds one that
            nothing refers to, or an empty one.
    """
    everywhere = list(_references(subject))
    uses = [(path, reference) for path, reference in everywhere if not path.startswith(("init.", "join."))]
    values = {(secret.name, secret.key): secret.value for secret in available}
    missing = [
        (path, f"refers to key {reference.key} of secret {reference.name}, which is not there")
        for path, reference in uses
        if (reference.name, reference.key) not in values
    ]
    if missing:
        remedy, index = remedy_of_missing(subject), item_index(subject.spec)
        raise SecretMissing(
            "the spec refers to secrets that are not there",
            violations=[
                Violation(place, problem, remedy=remedy)
                for path, problem in missing
                for place in _places(subject, path, index)
            ],
        )
    used = {(reference.name, reference.key) for _, reference in uses}
    violations = [*_values(subject, values, refers=bool(everywhere))]
    if subject.plan is not None:
        violations += _unused(request_secrets, used)
    if violations:
        raise SpecInvalid("the secrets do not fit the request", violations=violations)


def check_expiry(
    subject: CheckedSubject,
    bundle: bundlepb.BootstrapBundle,
    request_secrets: Sequence[secretpb.Secret],
    *,
    now: datetime,
) -> None:
    """Check that no secret of a bundle has expired.

    Args:
        subject: the machine.
        bundle: its bundle, with secrets.
        request_secrets: the secrets of the request, in its order.
        now: the time.

    Raises:
        SecretExpired: naming those of the request by their fields, and others by their names.
    """
    expired = {(secret.name, secret.key) for secret in bundle.secrets.secrets if is_expired(secret, now)}
    if not expired:
        return
    where = secrets_field(subject)
    places = {
        (secret.name, secret.key): f"{where}.secrets[{index}].expireTime"
        for index, secret in enumerate(request_secrets)
    }
    names = ", ".join(f"key {key} of secret {name}" for name, key in sorted(expired))
    raise SecretExpired(
        f"obtain fresh secrets in place of what has expired: {names}",
        violations=[
            Violation(places[name], "has passed", remedy="send a fresh secret")
            for name in sorted(expired)
            if name in places
        ],
    )


def is_expired(secret: secretpb.Secret, now: datetime) -> bool:
    """Return whether a secret is not accepted any more."""
    return secret.HasField("expire_time") and secret.expire_time.ToDatetime(tzinfo=UTC) <= now


def _parts(subject: CheckedSubject) -> Iterator[tuple[str, Message]]:
    yield "", subject.spec
    if subject.plan is not None:
        yield "plan", subject.plan


def _references(subject: CheckedSubject) -> Iterator[tuple[str, secretpb.SecretReference]]:
    for prefix, part in _parts(subject):
        yield from references(part, prefix)


def _values(subject: CheckedSubject, values: dict[tuple[str, str], bytes], *, refers: bool) -> Iterator[Violation]:
    """Find values that cannot stand where they are referred to: what is checked of a text in place is checked here.

    Nothing is looked at where the spec `refers` to no secret: most do not, and the walk is one through all of it.
    """
    if not refers:
        return
    fields = cache(lambda: item_index(subject.spec))
    for prefix, part in _parts(subject):
        for path, segment in _segments(part, prefix):
            value = values.get((segment.secret_ref.name, segment.secret_ref.key), b"")
            if segment.encoding == _JSON and not _is_text(value):
                why = "refers to a secret that is no UTF-8, which cannot be spliced in as a JSON string"
                for place in _places(subject, path, fields()):
                    yield Violation(place, why, remedy="send a text as the secret, or choose another encoding")
    if subject.spec.imported.HasField("kind"):
        return
    for index, user in enumerate(subject.spec.os.users):
        reference = user.password_hash.secret_ref
        text = values.get((reference.name, reference.key), PLACEHOLDER)
        if user.password_hash.HasField("secret_ref") and text != PLACEHOLDER and not is_hash(text.removesuffix(b"\n")):
            for place in _places(subject, f"os.users[{index}].password_hash.secret_ref", fields()):
                why = "refers to a secret that is no hash of crypt(3)"
                yield Violation(place, why, remedy='make a hash, such as "$6$...", with mkpasswd')


def _unused(request_secrets: Sequence[secretpb.Secret], used: set[tuple[str, str]]) -> Iterator[Violation]:
    """Find secrets of a foreign plan's request that it does not refer to, and those that say nothing."""
    for index, secret in enumerate(request_secrets):
        where = f"secrets.secrets[{index}]"
        if (secret.name, secret.key) not in used:
            why = f"is key {secret.key} of secret {secret.name}, which nothing in the spec refers to"
            yield Violation(where, why, remedy="leave it out, or refer to it")
        elif not secret.value:
            yield Violation(f"{where}.value", "must not be empty", remedy="set it, or leave out what refers to it")


def _places(subject: CheckedSubject, path: str, index: FieldIndex[Item]) -> list[str]:
    """Give where a reference was written: the item of an imported one, whose document has fields of its own."""
    item = index.holder(path)
    if item is not None and item.message.origin.path and subject.spec.imported.HasField("kind"):
        return [describe(item.message.origin)]
    # What Slipway fills in is no field of anybody's: what it belongs to is.
    path = path.removesuffix(".secret_ref") if path == "os.directory.secret_ref" else path
    return written_places(subject, path, index)


def _segments(message: Message, path: str) -> Iterator[tuple[str, contentpb.Segment]]:
    segments = messages_of(message, contentpb.Segment, path)
    return ((where, segment) for where, segment in segments if segment.HasField("secret_ref"))


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
