"""From documents to the user data of each machine, by all of Slipway's own parts in this process."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

from slipway.bootstrapper.artifacts.agent import Artifacts
from slipway.bootstrapper.assembly.report_addresses import AddressesOf
from slipway.bootstrapper.bootstrapper import utc_now
from slipway.bootstrapper.credentials.entropy import SystemEntropy
from slipway.bootstrapper.credentials.ephemeral_store import EphemeralStore
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.delivery.fetching import Fetching
from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tools.node.first_disk import FirstBoot

Store = Callable[[str, bytes], None]
"""Takes what a machine fetches, by its name."""

# For the docker provider, which reads user data itself, an older one would be chosen.
_IGNITION = "ignition/3.3.0"


class Rendering:
    """The machines of one set of documents, and of one cluster: each call has the same credentials."""

    def __init__(self, text: str, variables: Mapping[str, str] | None = None) -> None:
        self.secrets: dict[tuple[str, str], str] = {}
        store = EphemeralStore(SecretFactory(entropy=SystemEntropy(), clock=utc_now))
        self._bootstrapper = embedded_bootstrapper(store=store)
        self._store: Store | None = None
        self._read(text, variables or {})

    def again(self, text: str, variables: Mapping[str, str] | None = None) -> "Rendering":
        """Other documents about the same cluster."""
        other = Rendering.__new__(Rendering)
        other._bootstrapper, other._store = self._bootstrapper, self._store
        other._read(text, variables or {})
        return other

    def handing_out(self, artifacts: Artifacts) -> "Rendering":
        """The same cluster, whose operator hands out releases."""
        other = Rendering.__new__(Rendering)
        other._bootstrapper, other._store = replace(self._bootstrapper, artifacts=artifacts), self._store
        other._questions = self._questions
        return other

    def delivering(self, fetching: Fetching, store: Store) -> "Rendering":
        """The same cluster, whose operator lets machines fetch their user data."""
        other = Rendering.__new__(Rendering)
        other._bootstrapper, other._store = replace(self._bootstrapper, fetching=fetching), store
        other._questions = self._questions
        return other

    def reporting(self, addresses: AddressesOf) -> "Rendering":
        """The same cluster, whose operator has machines report to these addresses."""
        other = Rendering.__new__(Rendering)
        other._bootstrapper, other._store = replace(self._bootstrapper, addresses=addresses), self._store
        other._questions = self._questions
        return other

    def _read(self, text: str, variables: Mapping[str, str]) -> None:
        found = read_document_set({"test.yaml": text}, variables=variables, substitute=bool(variables))
        self._questions = {question.name: question for question in found.questions}

    @property
    def names(self) -> list[str]:
        """Names of the machines."""
        return list(self._questions)

    def user_data(self, name: str, by: FirstBoot = FirstBoot.CLOUD_INIT) -> bytes:
        """What one machine boots from."""
        question = self._questions[name]
        subject = bootstrappb.Subject()
        subject.CopyFrom(question.subject)
        subject.spec.provisioner.name = by
        if by is FirstBoot.IGNITION:
            subject.spec.provisioner.format = _IGNITION
        request = bootstrappb.GetUserDataRequest(
            subject=subject, credentials=question.secrets, accept_attachments=True, accept_gzip=True
        )
        answer = asyncio.run(self._bootstrapper.user_data(request))
        for attachment in answer.attachments:
            if attachment.url and self._store is not None:
                self._store(attachment.name, attachment.content)
        return answer.user_data
