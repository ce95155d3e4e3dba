"""Secrets of a plan in places where others than root read them, or that do not come from the bundle."""

from collections.abc import Iterator

from slipway.bootstrapper.credentials.generation import CERTIFICATE
from slipway.bootstrapper.engines.result import EngineResult
from slipway.contract.secret_references import references
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb

_OTHERS = 0o077
_PRIVATE_KEY = b"PRIVATE KEY-----"


def exposed_secrets(bundle: bundlepb.BootstrapBundle, result: EngineResult) -> Iterator[str]:
    """Give each of them, in a sentence without its value."""
    yield from _files(bundle, result)
    yield from _texts(bundle, result)


def _files(bundle: bundlepb.BootstrapBundle, result: EngineResult) -> Iterator[str]:
    known = {(reference.name, reference.key) for _, reference in references(bundle)}
    for file in result.files:
        for segment in file.content.segments:
            if not segment.HasField("secret_ref"):
                continue
            if (segment.secret_ref.name, segment.secret_ref.key) not in known:
                yield f"the file {file.path} refers to a secret that the bundle does not have"
            if segment.secret_ref.key != CERTIFICATE and file.mode & _OTHERS:
                yield f"the file {file.path} holds a secret, and others than its owner can read it"


def _texts(bundle: bundlepb.BootstrapBundle, result: EngineResult) -> Iterator[str]:
    """Find secrets that are written out: in a command, which every user of the machine can list, or in a file."""
    names = {reference.name for _, reference in references(bundle)}
    values = {bytes(secret.value) for secret in bundle.secrets.secrets} - {b""}
    places = [(f"the file {file.path}", _literal(file.content), list[str]()) for file in result.files]
    places += [(f"the step {step.id}", _literal(step.command.script), list(step.command.argv)) for step in result.steps]
    for place, text, words in places:
        whole = "\n".join(words).encode() + text
        if any(_is_named(name, word) for name in names for word in words):
            yield f"{place} has the name of a secret in its arguments"
        if any(value in whole for value in values):
            yield f"{place} has the value of a secret as text"
        if _PRIVATE_KEY in whole:
            yield f"{place} has a private key as text"


def _is_named(name: str, word: str) -> bool:
    return name == word or ("/" in name and name in word)


def _literal(content: contentpb.Content) -> bytes:
    return content.data + content.text.encode() + b"".join(part.data + part.text.encode() for part in content.segments)
