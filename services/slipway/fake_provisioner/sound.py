"""What it answers when nothing goes wrong: the paths of the items that it was given, and no content."""

from collections.abc import Sequence

from slipway.contract.items import items
from slipway.fake_provisioner.script import Script
from slipway.sdk import RenderContext, UserData
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

_INPUTS = {"Plan": provisionerpb.KUBERNETES_INPUT_PLAN, "Intent": provisionerpb.KUBERNETES_INPUT_INTENT}


class Sound:
    """A provisioner of the SDK whose user data lists what came, after a line with its own version."""

    documentation_url = ""

    def __init__(self, script: Script) -> None:
        """Be what the script says."""
        self.name = script.name
        self.version = script.version
        self._script = script

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        """Give the one format."""
        linux = clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX, distribution="debian", architecture="amd64")
        return [
            provisionerpb.FormatInfo(
                format=self._script.format or self.name,
                media_type="text/plain",
                file_extension="txt",
                kubernetes_input=_INPUTS[self._script.kubernetes],
                features=[provisionerpb.FeatureSupport(id=id_) for id_ in sorted(set(self._script.features))],
                os_families=[clusterpb.OS_FAMILY_LINUX],
                default_target=linux,
            )
        ]

    def render(self, bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
        """Give a line for every item: its field path, and where it is to be on the machine if anywhere."""
        del target, ctx
        lines = [f"{item.path} {getattr(item.message, 'path', '')}".rstrip() for item in items(bundle)]
        return UserData("".join(f"{line}\n" for line in [self.version, *lines]).encode())
