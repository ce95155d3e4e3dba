"""Between the contract's texts and those of documents: values, secrets, machine facts, texts of extensions."""

from collections.abc import Iterable, Iterator

from slipway.bootstrapper.engines.documents.segmented_yaml import Splice
from slipway.bootstrapper.engines.documents.spliced import Slot, Spliced, Text
from slipway.contract.errors import BundleInvalid, Violation
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import secret_pb2 as secretpb


def machine_text(text: contentpb.MachineText | kubernetespb.Argument) -> Text:
    """Give a text that may depend on the machine (or an argument's value) as a text of a document."""
    if not text.segments:
        return text.value
    parts: list[str | Slot] = []
    for segment in text.segments:
        kind = segment.WhichOneof("value")
        if kind == "fact":
            parts.append(Slot(segment.fact))
        elif kind == "extension":
            parts.append(Slot(segment.extension, verbatim=segment.extension.text))
        elif segment.text:
            parts.append(segment.text)
    return joined(parts)


def joined(parts: Iterable[str | Slot]) -> Text:
    """Join parts; text without a slot becomes plain text."""
    merged: list[str | Slot] = []
    for part in parts:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        else:
            merged.append(part)
    if any(isinstance(part, Slot) for part in merged):
        return Spliced(tuple(merged))
    return "".join(part for part in merged if isinstance(part, str))


def concatenated(texts: Iterable[Text], separator: str) -> Text:
    """Join texts with a separator between them."""
    parts: list[str | Slot] = []
    for text in texts:
        if parts:
            parts.append(separator)
        parts += [text] if isinstance(text, str) else text.parts
    return joined(parts)


def secret_text(reference: secretpb.SecretReference) -> Spliced:
    """Give the place of a secret in a document."""
    return Spliced((Slot(reference),))


def base64_text(reference: secretpb.SecretReference) -> Spliced:
    """Give the place of a secret in a document that has it in base64."""
    return Spliced((Slot(reference, base64=True),))


def secret_value(value: secretpb.SecretValue, path: str) -> Spliced:
    """Give the place of a secret that the spec says.

    Raises:
        BundleInvalid: the value stands in the bundle itself; a bundle holds references only.
    """
    if value.WhichOneof("source") != "secret_ref":
        raise BundleInvalid(
            "a secret of the bundle is no reference",
            violations=[Violation(path, "must be a reference into the bundle's secrets")],
        )
    return secret_text(value.secret_ref)


def text_pieces(text: Text) -> Iterator[str | Splice]:
    """Cut a text at what is not known here; it stands there as it is."""
    for part in (text,) if isinstance(text, str) else text.parts:
        yield part if isinstance(part, str) else Splice(part, as_json_string=False)


def document_content(pieces: Iterable[str | Splice]) -> contentpb.Content:
    """Give a file's content from a document's pieces; secrets and facts stay references."""
    return contentpb.Content(segments=[_segment(piece) for piece in pieces])


def _segment(piece: str | Splice) -> contentpb.Segment:
    if isinstance(piece, str):
        return contentpb.Segment(data=piece.encode())
    encoding = contentpb.SPLICE_ENCODING_JSON_STRING if piece.as_json_string else contentpb.SPLICE_ENCODING_RAW
    if piece.slot.base64:
        encoding = contentpb.SPLICE_ENCODING_BASE64
    content = piece.slot.content
    if isinstance(content, secretpb.SecretReference):
        return contentpb.Segment(secret_ref=content, encoding=encoding)
    if isinstance(content, contentpb.MachineFact):
        return contentpb.Segment(fact=content, encoding=encoding)
    if isinstance(content, contentpb.ExtensionText):
        return contentpb.Segment(extension=content, encoding=encoding)
    raise TypeError(f"a slot of a document holds {type(content).__name__}")
