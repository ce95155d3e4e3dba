"""Names the fields of a refusal as they stand in the request that it answers, whichever check found the problem.

A check sees a part of a request, a pass sees what was made of it, and a provisioner sees a bundle. A caller can map a
path to a document of its own only when it leads somewhere in what it sent.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from google.protobuf.descriptor import Descriptor

from slipway.bootstrapper.importers.document_words import is_of_document
from slipway.bootstrapper.problems.remedies import CORRECT
from slipway.contract.errors import SlipwayError
from slipway.contract.field_plans import plan
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb

_MADE_BY = re.compile(r" \(through [^()]*+\)")
_PART = re.compile(r"([A-Za-z][A-Za-z0-9_]*+)(?:\[([0-9]++)\])?")
_TARGET = re.compile(r"(?<![\w.])(?:machine\.)?target\.([a-z]\w*+)")
_WORD = re.compile(r"[\w.\[\]/-]++")
_ROOTS = frozenset({"commands", "execution", "extensions", "os", "plan"})
_SPEC = "spec"
_PROVISION = {"": _SPEC, "machine.name": "machineName", "request": ""}


def leads(descriptor: Descriptor | None, path: str) -> bool:
    """Return whether a field path, in the spelling of JSON or of the contract, leads to a field of a message."""
    holder = descriptor
    for part in path.split("."):
        match = _PART.fullmatch(part)
        if match is None or holder is None:
            return False
        field = next((each for each in holder.fields if match[1] in {each.name, each.json_name}), None)
        if field is None or (match[2] is not None and not plan(holder)[field.number].repeated):
            return False
        holder = field.message_type
    return True


def _whole(match: re.Match[str]) -> str:
    """Give a path of a sentence from the spec on; without an index it may be the name of a feature, and stays."""
    word = match[0].rstrip(".")
    path = word.removeprefix("request.").removeprefix("bundle.").removeprefix(f"{_SPEC}.")
    if "[" not in path or "/" in path or path.partition("[")[0].partition(".")[0] not in _ROOTS:
        return match[0]
    return f"{_SPEC}.{person_path(path)}{match[0][len(word) :]}"


class RequestWords:
    """The names that the fields of one kind of request have."""

    def __init__(
        self,
        *descriptors: Descriptor,
        target: Callable[[str], str],
        names: Mapping[str, str],
        remedy: str = "",
    ) -> None:
        """Know a request.

        Args:
            descriptors: of the request, and of a part of it from which on fields are named, too.
            target: gives the field that holds the target, for the name of one of its fields.
            names: further names of fields by those that checks give them.
            remedy: what to do about a violation that does not say it.
        """
        self._remedy = remedy
        self._descriptors = descriptors
        self._target = target
        self._names = names

    def path(self, path: str) -> str:
        """Give a path that leads to a field of the request; the spec as a whole for what no field of it caused."""
        bare = _MADE_BY.sub("", path)
        if ": " in bare:
            return bare
        if bare in self._names:
            return self._names[bare]
        match = _TARGET.match(bare)
        if match is not None:
            return self._target(person_path(match[1]))
        if not bare or self._leads(bare):
            return person_path(bare)
        bare = bare.removeprefix("bundle.").removeprefix("request.").removeprefix("intent.")
        if self._leads(bare) and "[" not in bare:
            return person_path(bare)
        # An index in a bundle counts what was made of the request, too.
        own = f"{_SPEC}.{person_path(bare)}"
        return own if "[" not in bare and self._leads(own) else _SPEC

    def _leads(self, path: str) -> bool:
        return any(leads(descriptor, path) for descriptor in self._descriptors)

    def text(self, text: str) -> str:
        """Give a sentence whose field paths are the request's."""
        text = _TARGET.sub(lambda match: self._target(person_path(match[1])), text)
        return _WORD.sub(_whole, text)

    def rename(self, error: SlipwayError) -> None:
        """Have an error name fields as the request does."""
        error.violations = tuple(
            replace(
                violation,
                path=self.path(violation.path),
                description=self.text(violation.description),
                remedy=self.text(violation.remedy or self._remedy),
            )
            for violation in error.violations
        )
        error.message = self.text(error.message)
        error.args = (error.message,)

    def place(self, diagnostics: Iterable[diagnosticpb.Diagnostic]) -> None:
        """Have each remark say where the request has its field."""
        for diagnostic in diagnostics:
            diagnostic.message = self.text(diagnostic.message)
            if diagnostic.field_path and not diagnostic.origin.path:
                diagnostic.origin.path = self.path(diagnostic.field_path)


def words_of_provision(descriptor: Descriptor = provisioningpb.ProvisionRequest.DESCRIPTOR) -> RequestWords:
    """Give the names of a request to ProvisioningService."""

    def target(field: str) -> str:
        return f"spec.target.{field}"

    return RequestWords(descriptor, target=target, names=_PROVISION, remedy=CORRECT)


def words_of_subject(subject: bootstrappb.Subject) -> RequestWords | None:
    """Give the names of a question about a machine, from the subject on; None where its spec has a document's own."""
    if is_of_document(subject.spec):
        return None

    def target(field: str) -> str:
        name = re.sub(r"(?<=[a-z])([A-Z])", lambda match: f"_{match[1].lower()}", field)
        own, machines = subject.spec.target, subject.machine.target
        of_machine = name in own.DESCRIPTOR.fields_by_name and getattr(machines, name) and not getattr(own, name)
        holder = "machine" if of_machine else _SPEC
        return f"{holder}.target.{field}"

    descriptors = (bootstrappb.Subject.DESCRIPTOR, bootstrappb.GetUserDataRequest.DESCRIPTOR)
    return RequestWords(*descriptors, target=target, names={})


@contextmanager
def in_words_of(words: RequestWords | None) -> Iterator[None]:
    """Have errors that are raised within name fields as a request does."""
    try:
        yield
    except SlipwayError as error:
        if words is not None:
            words.rename(error)
        raise
