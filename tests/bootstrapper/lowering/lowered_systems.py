"""What a test sees of a bundle that was lowered for the smallest provisioner that there may be."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass

from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.lowering.finish import prepared_items
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.bootstrapper.lowering.work import Legalised
from slipway.contract.content import SecretIndex, content_bytes
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

LEAST = ("os.files", "plan.entrypoint")
SUPPORTS = [provisionerpb.FeatureSupport(id=id_) for id_ in LEAST]


@dataclass(frozen=True)
class Lowered:
    """A bundle after it was lowered."""

    draft: Draft
    result: Legalised

    @property
    def files(self) -> dict[str, ospb.File]:
        """The files that the provisioner writes, by path."""
        return {file.path: file for file in self.draft.bundle.os.files}

    def text(self, path: str, secrets: SecretIndex | None = None) -> str:
        """Give what a file that the provisioner writes holds."""
        return content_bytes(self.files[path].content, secrets or SecretIndex([])).decode()

    @property
    def prepared(self) -> list[planpb.Step | Wave]:
        """The steps and waves of the phase PREPARE, in order."""
        return prepared_items(self.draft)

    @property
    def scripts(self) -> dict[str, str]:
        """The scripts of the phase PREPARE by step id; a program with arguments is shown as a line."""
        return {
            step.id: content_bytes(step.command.script, SecretIndex([])).decode() or shlex.join(step.command.argv)
            for step in self.prepared
            if isinstance(step, planpb.Step)
        }

    @property
    def refusals(self) -> list[tuple[str, str]]:
        """What was refused: feature and reason."""
        return [(refusal.feature, refusal.reason) for refusal in self.result.refusals]


LowerSystem = Callable[..., Lowered]
