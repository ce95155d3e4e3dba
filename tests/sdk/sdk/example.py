"""A provisioner that a test makes up, and a request to it."""

from collections.abc import Callable, Sequence

from slipway.sdk import Provisioner, ProvisionerCore, RenderContext, UserData, testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

Render = Callable[[bundlepb.BootstrapBundle, clusterpb.Target, RenderContext], UserData]


class Example:
    """A provisioner that a test makes up: by default it only counts the files."""

    name = "example"
    version = "1.2.3"
    documentation_url = ""

    def __init__(self, render: Render | None = None, *, emits_attachments: bool = False) -> None:
        self._render = render
        self._emits_attachments = emits_attachments

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        return [
            provisionerpb.FormatInfo(
                format="example/1",
                media_type="text/x-example",
                kubernetes_input=provisionerpb.KUBERNETES_INPUT_PLAN,
                features=[
                    provisionerpb.FeatureSupport(id="os.files"),
                    provisionerpb.FeatureSupport(id="os.files.append", allowed_values=["false"]),
                    provisionerpb.FeatureSupport(id="plan.entrypoint"),
                ],
                default_target=clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX),
                os_families=[clusterpb.OS_FAMILY_LINUX],
                emits_attachments=self._emits_attachments,
            )
        ]

    def render(self, bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
        if self._render:
            return self._render(bundle, target, ctx)
        return UserData(b"files: %d" % len(bundle.os.files))


def ask(
    provisioner: Provisioner | None = None,
    change: Callable[[provisionerpb.RenderRequest], object] = lambda request: None,
) -> provisionerpb.RenderResponse:
    """Render a small bundle after `change` has been made to the request."""
    provisioner = provisioner or Example()
    request = testing.request(provisioner, testing.bundle(ospb.OperatingSystem(files=[testing.file("/etc/a", b"x")])))
    change(request)
    return ProvisionerCore(provisioner).render_now(request)
