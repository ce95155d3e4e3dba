"""files[]: the bytes that a machine of today gets, owner and permissions read as cloud-init reads them."""

import base64
import binascii
import posixpath
import re
import zlib

from slipway.bootstrapper.importers.go_template import render
from slipway.bootstrapper.importers.go_template_dialect import GoTemplateError
from slipway.bootstrapper.importers.jinja import has_jinja
from slipway.bootstrapper.importers.kubeadm_config.os_items import File, SecretSource
from slipway.bootstrapper.importers.mapping.context import CLOUD_CONFIG, IGNITION, Context
from slipway.bootstrapper.importers.mapping.literal_block import from_literal_block
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb

_LARGEST = 1 << 20
_MODE = re.compile(r"(?:0o?)?[0-7]{1,5}")
_NOT_IN_KEYS = re.compile(r"[^A-Za-z0-9._-]")
_KNOWN_SECRET = "the Secret's value has to be known for that: give the Secret beside the config"  # noqa: S105  # a sentence
_AS_IT_IS = (
    "the Secret's value is not known here, and the file will have exactly its bytes; today's provider makes LF of every"
    " line break and puts one newline at the end: write the value so"
)
_AS_IT_IS_RENDERED = (
    "the Secret's value is not known here, and the file will have its bytes, Jinja in them rendered as today; today's "
    "provider makes LF of every line break and puts one newline at the end: write the value so"
)


class _DecodeError(ValueError):
    """Encoded content that is not what it says; the message repeats nothing of it."""


def file_item(context: Context, place: Place, file: File) -> ospb.File:
    """Carry over an entry of files."""
    item = ospb.File(path=_path(context, place.at("path"), file.path), origin=place.origin())
    item.content.CopyFrom(file_content(context, place, file))
    set_owner(item, context.plain(place.at("owner"), file.owner))
    if file.permissions:
        mode = _mode(context, place.at("permissions"), file.permissions)
        if mode is not None:
            item.mode = mode
    if file.append is not None:
        item.append = file.append
        if file.append and context.format == IGNITION:
            message = "today's ignition output replaces the file; here the content is put behind what it holds"
            context.findings.warn(place.at("append"), "APPEND_HONOURED", message)
    return item


def _path(context: Context, place: Place, text: str) -> str:
    """Give the path as the systems of today read it."""
    path = context.plain(place, text)
    plain = normal_path(path)
    if plain != path:
        message = "repeated and trailing slashes, and parts that are . or .., are left out of the path"
        context.findings.inform(place, "PATH_SIMPLIFIED", message)
    return plain


def normal_path(path: str) -> str:
    """Give a path of Linux in its shortest form, by its text: so cloud-init (os.path.abspath) and Ignition (Go) do."""
    return posixpath.normpath(f"/{path.lstrip('/')}") if path.startswith("/") else path


def set_owner(item: ospb.File | ospb.Directory | ospb.Link, text: str) -> None:
    """Set user and group from `user:group`, where either may be missing."""
    user, _, group = (part.strip() for part in text.partition(":"))
    if user:
        item.owner = user
    if group:
        item.group = group


def file_text(context: Context, place: Place, file: File) -> str:
    """Give the text of `content`, at its place, as today's provider writes it."""
    text = file.content or ""
    return _rendered(context, place, text) if file.content_format == "Template" else text


def file_content(context: Context, place: Place, file: File, *, rendered: bool = False) -> contentpb.Content:
    """Give what a file holds: text, the bytes that encoded text stands for, or a secret.

    `rendered`: the file stands in the document as it is written, so cloud-init renders a secret of it, too.
    """
    if file.content_from is not None:
        return _from_secret(context, place, file, file.content_from, rendered=rendered)
    text = file_text(context, place.at("content"), file)
    if not file.encoding:
        return context.file_content(place.at("content"), text)
    try:
        return contentpb.Content(data=_decoded(text.encode(), file.encoding))
    except _DecodeError as error:
        context.findings.refuse(place.at("content"), str(error))
        return contentpb.Content()


def _from_secret(
    context: Context, place: Place, file: File, source: SecretSource, *, rendered: bool
) -> contentpb.Content:
    """Refer to the Secret; where its value is to be changed first, make a secret of the result."""
    name, key = source.secret.name, source.secret.key
    value = context.secrets.get((name, key))
    place = place.at("contentFrom")
    if value is None and not context.set_missing:
        if file.encoding or file.content_format == "Template":
            context.findings.refuse(place, _KNOWN_SECRET)
            return contentpb.Content()
        context.findings.warn(place, "SECRET_AS_IT_IS", _AS_IT_IS_RENDERED if rendered else _AS_IT_IS)
    changed = value if value is None else _changed(context, place, file, value)
    # What is encoded is no text to cloud-init, and a template of Go is rendered before it.
    is_text = context.format == CLOUD_CONFIG and not rendered and not file.encoding
    if is_text and changed is not None and has_jinja(changed.decode(errors="replace")):
        message = "the Secret's value holds marks of Jinja, which cloud-init renders today; here it is taken as it is"
        context.findings.warn(place, "SECRET_NOT_RENDERED", message)
    if changed is not None and changed != value:
        key = _derived_key(context, file, name, key)
        if all((entry.name, entry.key) != (name, key) for entry in context.derived):
            context.derived.append(secretpb.Secret(name=name, key=key, value=changed))
    return contentpb.Content(secret_ref=secretpb.SecretReference(name=name, key=key))


def _derived_key(context: Context, file: File, name: str, key: str) -> str:
    """Give a key that tells what was done to the value: what other configs make of it is another secret."""
    template = ["template", context.control_plane_version] if file.content_format == "Template" else []
    key = _NOT_IN_KEYS.sub("-", ".".join(filter(None, (key, *template, file.encoding or "lines"))))
    while (name, key) in context.secrets:
        key += "-"
    return key


def _changed(context: Context, place: Place, file: File, value: bytes) -> bytes:
    try:
        if file.content_format == "Template":
            value = _rendered(context, place, value.decode()).encode()
        return _decoded(value, file.encoding) if file.encoding else from_literal_block(value.decode()).encode()
    except UnicodeDecodeError:
        if file.content_format != "Template":
            return value
        context.findings.refuse(place, "a template must be text in UTF-8")
    except _DecodeError as error:
        context.findings.refuse(place, str(error))
    return b""


def _rendered(context: Context, place: Place, text: str) -> str:
    try:
        return render(text, context.control_plane_version)
    except GoTemplateError as error:
        context.findings.refuse(place, f"contentFormat Template: {error}")
        return ""


def _decoded(content: bytes, encoding: str) -> bytes:
    if "base64" in encoding:
        try:
            content = base64.b64decode(b"".join(content.split()), validate=True)
        except binascii.Error:
            raise _DecodeError("not base64, although encoding says so") from None
    if "gzip" in encoding:
        unzip = zlib.decompressobj(wbits=31)
        try:
            content = unzip.decompress(content, _LARGEST + 1)
        except zlib.error:
            raise _DecodeError("not gzip, although encoding says so") from None
        if not unzip.eof and len(content) <= _LARGEST:
            raise _DecodeError("not gzip, although encoding says so: the end is missing")
    if len(content) > _LARGEST:
        raise _DecodeError(f"larger than {_LARGEST} bytes when decoded")
    return content


def _mode(context: Context, place: Place, text: str) -> int | None:
    mode = int(text.removeprefix("0o"), 8) if _MODE.fullmatch(text) else None
    if mode is None or mode > 0o7777:  # noqa: PLR2004 - all permission bits
        context.findings.refuse(place, 'must be octal permission bits such as "0644"')
        return None
    if context.format == IGNITION and not text.startswith("0"):
        message = (
            "today's ignition output takes permissions without a leading zero for a decimal number; here they are octal"
        )
        context.findings.warn(place, "PERMISSIONS_OCTAL", message)
    return mode
