"""Bundles for Windows: a small one, and one that asks for everything that the formats declare."""

from google.protobuf.text_format import Merge

from slipway.contract.content import literal
from slipway.contract.features import compute_features
from slipway.provisioners.windows.provisioner import WindowsProvisioner
from slipway.sdk import ProvisionerCore
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

FORMATS = ("cloudbase-init", "unattend")
EVERY_BYTE = bytes(range(256))
CERTIFICATE = b"""-----BEGIN CERTIFICATE-----
MIIBITCByKADAgECAgEBMAoGCCqGSM49BAMCMA8xDTALBgNVBAMMBHRlc3QwIBcN
MjAwMTAxMDAwMDAwWhgPMjA1MDAxMDEwMDAwMDBaMA8xDTALBgNVBAMMBHRlc3Qw
WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAT9rNGXjmhQshIA38Bs8sAiDn01bPCC
ZpAvWg1Mxr2XX1fbSsf+LkrMlkAiRSHkNXd3QzB7t+TMo2zUaqAvRYM1oxMwETAP
BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQCHcL5v08L84uRRDqDQ
FEAk4i/7d+1uNm1DpUezwf+MuwIgQVI3X4c7MfjOl0z2+20iV4ce+y1lDYENCAkI
pI+r9TY=
-----END CERTIFICATE-----
"""


def bundle(text: str = "") -> bundlepb.BootstrapBundle:
    """Give a bundle with a plan. `text` is in protobuf's text format."""
    result = bundlepb.BootstrapBundle(id="m-1")
    result.plan.entrypoint.argv.extend(["powershell.exe", "-File", "C:\\Program Files\\run it.ps1", 'a "b"'])
    return Merge(text, result)


def everything() -> bundlepb.BootstrapBundle:
    """Give a bundle with every declared feature and hard values."""
    result = bundle("""
        os {
          directories { path: "C:\\\\k" owner: "root" group: "root" mode: 493 }
          directories { path: "C:/etc/kubernetes/pki" owner: "capi" group: "root" mode: 448 }
          groups { name: "operators" }
          users { name: "capi" gecos: "it's \\303\\251 $env:TEMP `n" groups: "Administrators" groups: "operators"
                  lock_password: true ssh_authorized_keys: "ssh-ed25519 AAAA a'b" }
          users { name: "gone" inactive: true }
          hostname { name { value: "win-1" } }
          ntp { enabled: true servers: "time.cloudflare.com" servers: "10.0.0.1" }
          time_zone { name: "Europe/Berlin" }
        }
    """)
    files = {"C:/k/azure.json": 0o644, "C:\\secret $x '1'\\\u00e9.bin": 0o600}
    for path, mode in files.items():
        result.os.files.add(path=path, content=literal(EVERY_BYTE), owner="root", group="root", mode=mode)
    result.os.files.add(path="D:\\owned", content=literal(b""), owner="capi", group="root", mode=0o640)
    result.os.trusted_certificates.add(name="corp", certificate=literal(CERTIFICATE * 2))
    return result


def target(**fields: str) -> clusterpb.Target:
    """Give a resolved target."""
    return clusterpb.Target(os_family=clusterpb.OS_FAMILY_WINDOWS, **fields)


def render(
    made: bundlepb.BootstrapBundle, form: str = "cloudbase-init", *, accept_attachments: bool = True
) -> provisionerpb.RenderResponse:
    """Render as the service does, with all its checks."""
    compute_features(made)
    request = provisionerpb.RenderRequest(
        request_tag="t", bundle=made, target=target(), format=form, accept_attachments=accept_attachments
    )
    return ProvisionerCore(WindowsProvisioner()).render_now(request)


def script(made: bundlepb.BootstrapBundle, form: str = "cloudbase-init") -> str:
    """Give the PowerShell script of a format."""
    answer = render(made, form)
    return (answer.attachments[0].content if answer.attachments else answer.user_data).decode("ascii")
