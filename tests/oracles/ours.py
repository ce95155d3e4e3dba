"""Machines of files in Slipway's own words that lie here, and what it gives machines: all in this process."""

import asyncio
from functools import cache
from pathlib import Path

from slipway.bootstrapper.bootstrapper import utc_now
from slipway.bootstrapper.credentials.entropy import SystemEntropy
from slipway.bootstrapper.credentials.ephemeral_store import EphemeralStore
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.documents.machines import MachineQuestion, native_questions
from slipway.bootstrapper.documents.native import NativeCluster, NativeConfig, read_native
from slipway.contract.yaml_source import load_documents
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.oracles import cluster


@cache
def machines(file: str) -> dict[str, MachineQuestion]:
    """The machines of a file, by name."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    read = [read_native(one) for one in load_documents(text, file=file)]
    configs = [one for one in read if isinstance(one, NativeConfig)]
    return {one.name: one for one in native_questions(configs, [one for one in read if isinstance(one, NativeCluster)])}


def render(
    question: MachineQuestion, provisioner: str, format_id: str = "", *, own_secrets: bool = False
) -> bootstrappb.GetUserDataResponse:
    """The answer for one machine, with the secrets of the one cluster, or with all that a provisioner declares.

    Raises:
        SlipwayError: Slipway refuses.
    """
    subject = bootstrappb.Subject()
    subject.CopyFrom(question.subject)
    subject.spec.provisioner.name = provisioner
    if format_id:
        subject.spec.provisioner.format = format_id
    given = () if own_secrets else cluster.secrets()
    material = secretpb.SecretMaterial(secrets=[*question.secrets.secrets, *given])
    request = bootstrappb.GetUserDataRequest(subject=subject, credentials=material, accept_attachments=True)
    store = _store() if own_secrets else None
    return asyncio.run(embedded_bootstrapper(store=store).user_data(request))


@cache
def _store() -> EphemeralStore:
    return EphemeralStore(SecretFactory(entropy=SystemEntropy(), clock=utc_now))
