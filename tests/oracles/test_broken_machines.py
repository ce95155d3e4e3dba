"""Machines that boot with cloud-init on a kernel of their own, and cannot become nodes: what they leave says why.

Nodes that share the kernel of their host cannot have another clock or swap. Here kubeadm, kubelet and containerd are
real, and run in qemu; of the control plane that a worker joins there is the answer to the first question.
"""

import base64
import datetime as dt
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from slipway.bootstrapper.documents.machines import MachineQuestion, native_questions
from slipway.bootstrapper.documents.native import NativeCluster, NativeConfig, read_native
from slipway.contract.yaml_source import load_documents
from slipway.diagnosis.diagnosis import diagnose
from slipway.diagnosis.log_files import Log
from tests.oracles import cluster, ours
from tools.oracles import go_programs, qemu, roots
from tools.oracles.qemu import Machine
from tools.oracles.sandbox import File

pytestmark = [pytest.mark.engine, pytest.mark.long, pytest.mark.timeout(2400)]

SECONDS = 2000.0
_HOST = "api.pier.example.com"
_PLACE = "/opt/harness"
_LOGS = {name: f"/var/log/{name}.log" for name in ("kubelet", "containerd")}
_DOCUMENTS = """\
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayCluster
metadata: {name: pier}
spec:
  cluster:
    kubernetesVersion: v1.34.2
    endpoint: {host: api.pier.example.com, port: 6443}
    podCidrs: [10.244.0.0/16]
  machines:
    - {name: pier-late, role: Worker, config: late}
    - {name: pier-swaps, role: Init, config: swaps}
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfig
metadata: {name: late}
spec:
  target: {osFamily: Linux, distribution: debian, osVersion: "13"}
  kubernetes:
    node: {criSocket: unix:///run/containerd/containerd.sock}
    timeouts: {tlsBootstrap: 20s}
  engineOptions:
    kubeadm: {ignoredPreflightErrors: [all], timeouts: {discovery: 40s, kubernetesApi: 20s}}
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfig
metadata: {name: swaps}
spec:
  target: {osFamily: Linux, distribution: debian, osVersion: "13"}
  kubernetes:
    node: {criSocket: unix:///run/containerd/containerd.sock}
    controlPlane: {advertiseAddress: {value: 192.0.2.10}}
    certificates: {keyAlgorithm: EcdsaP256}
  engineOptions:
    kubeadm: {skippedPhases: [preflight], timeouts: {kubelet: 40s}}
"""
_API = f"""\
import http.server, ssl
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        seen = self.path.startswith("/api/v1/namespaces/kube-public/configmaps/cluster-info")
        body = open("{_PLACE}/cluster-info", "rb").read()
        self.send_response(200 if seen else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 6443), Answer)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("{_PLACE}/server.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""


def unit(start: str, *lines: str, early: bool = False) -> dict[str, bytes]:
    """Give a unit as text; an early one has ended before cloud-init looks at anything."""
    service = ["Type=oneshot", "RemainAfterExit=yes"] if early else ["Restart=always", "RestartSec=2"]
    order = ["DefaultDependencies=no", "Before=cloud-init-local.service"] if early else []
    text = ["[Unit]", *order, "[Service]", f"ExecStart={start}", *service, *lines]
    return {"": "\n".join(text).encode() + b"\n"}


def units(started: Mapping[str, dict[str, bytes]]) -> dict[str, File]:
    """Give the files of units that start with the machine."""
    folder = "/etc/systemd/system"
    files = {f"{folder}/{name}.service": File(text[""]) for name, text in started.items()}
    wants = "".join(f"Wants={name}.service\n" for name in started)
    return {**files, f"{folder}/sysinit.target.d/harness.conf": File(f"[Unit]\n{wants}".encode())}


def programs() -> dict[str, File]:
    """Give what makes a machine a node, with its units."""
    kubebox = go_programs.PROGRAMS["kubebox-1.34"].require()
    call = '#!/bin/bash\nexec -a {name} /usr/bin/kubebox "$@"\n'
    files = {f"/usr/bin/{name}": File(call.format(name=name).encode(), 0o755) for name in ("kubeadm", "kubelet")}
    files["/usr/bin/kubebox"] = File(mode=0o755, host=kubebox)
    containerd = roots.ROOTS["node-trixie"].require() / "usr/bin/containerd"
    files["/usr/bin/containerd"] = File(mode=0o755, host=containerd)
    drop_in = Path("tools/node/machine_files/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf")
    files["/etc/systemd/system/kubelet.service.d/10-kubeadm.conf"] = File(drop_in.read_bytes())
    return files


def logged(name: str, start: str) -> dict[str, bytes]:
    """Give a unit whose output is kept in a file."""
    return unit(start, f"StandardOutput=append:{_LOGS[name]}", f"StandardError=append:{_LOGS[name]}")


@cache
def machines() -> dict[str, MachineQuestion]:
    """Give the machines of the documents, by name."""
    read = [read_native(document) for document in load_documents(_DOCUMENTS, file="")]
    configs = [document for document in read if isinstance(document, NativeConfig)]
    clusters = [document for document in read if isinstance(document, NativeCluster)]
    return {question.name: question for question in native_questions(configs, clusters)}


@cache
def traces(name: str) -> dict[str, str]:
    """Boot a machine, and give the record of its failed step and the logs that it leaves."""
    answer = ours.render(machines()[name], "cloud-init")
    record = f"/var/lib/slipway/state/{answer.bundle_id}/20-kubeadm.failed"
    started = {
        "containerd": logged("containerd", "/usr/bin/containerd"),
        "kubelet": logged("kubelet", "/usr/bin/kubelet"),
        **BROKEN[name](),
    }
    files = {**programs(), **units(started), **FILES.get(name, dict)()}
    files["/etc/hosts"] = File(f"127.0.0.1 localhost {_HOST}\n".encode())
    machine = Machine(devices=(), look=[record, *_LOGS.values()], files=files, boots=1)
    (note,) = qemu.cloud_init(answer.user_data, machine, timeout=SECONDS)
    assert record in note["paths"], (note["journal"][-3000:], note["failed"])
    assert not note["sentinel"]
    return {path: base64.b64decode(about["content"] or "").decode() for path, about in note["paths"].items()}


def clock() -> dict[str, Any]:
    """A clock that is a year behind, and the control plane's answer."""
    behind = int((dt.datetime.now(dt.UTC) - dt.timedelta(days=365)).timestamp())
    return {
        "wrong-clock": unit(f"/usr/bin/date --set=@{behind}", early=True),
        "api-server": unit(f"/usr/bin/python3 -c 'exec(open(\"{_PLACE}/api.py\").read())'"),
    }


def swap() -> dict[str, Any]:
    """Swap in a file."""
    words = "fallocate -l 64M /swap && chmod 600 /swap && mkswap /swap && swapon /swap"
    address = "ip link add eth9 type dummy && ip address add 192.0.2.10/24 dev eth9 && ip link set eth9 up"
    return {"swap": unit(f"/bin/sh -c '{words}'", early=True), "address": unit(f"/bin/sh -c '{address}'", early=True)}


BROKEN: Mapping[str, Callable[[], dict[str, Any]]] = {"pier-late": clock, "pier-swaps": swap}


def control_plane() -> dict[str, File]:
    """Give what a worker is answered: the cluster's address and authority, signed with its token, by a certificate."""
    about = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "",
                "cluster": {
                    "server": f"https://{cluster.ENDPOINT}",
                    "certificate-authority-data": base64.b64encode(cluster.pki()["ca.crt"].encode()).decode(),
                },
            }
        ],
    }
    token_id, _, secret = cluster.token().partition(".")
    kubeconfig = yaml.safe_dump(about)
    data = {"kubeconfig": kubeconfig, f"jws-kubeconfig-{token_id}": signature(kubeconfig, token_id, secret)}
    answer = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cluster-info"}, "data": data}
    return {
        f"{_PLACE}/cluster-info": File(json.dumps(answer).encode()),
        f"{_PLACE}/server.pem": File(certificate(), 0o600),
        f"{_PLACE}/api.py": File(_API.encode()),
    }


FILES: Mapping[str, Callable[[], dict[str, File]]] = {"pier-late": control_plane}


def signature(text: str, token_id: str, secret: str) -> str:
    """Sign a text as the control plane does: a JWS (RFC 7515) by HMAC without its payload."""
    header = json.dumps({"alg": "HS256", "kid": token_id}, separators=(",", ":"))
    signed = f"{unpadded(header.encode())}.{unpadded(text.encode())}"
    mac = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest()
    return f"{unpadded(header.encode())}..{unpadded(mac)}"


def unpadded(content: bytes) -> str:
    """Give base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def certificate() -> bytes:
    """Give a certificate of the cluster's authority that is valid since an hour, with its key."""
    authority = x509.load_pem_x509_certificate(cluster.pki()["ca.crt"].encode())
    signer: Any = serialization.load_pem_private_key(cluster.pki()["ca.key"].encode(), None)
    key, now = ec.generate_private_key(ec.SECP256R1()), dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kube-apiserver")]))
        .issuer_name(authority.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(_HOST)]), critical=False)
        .sign(signer, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8
    private = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    return made.public_bytes(serialization.Encoding.PEM) + private


@pytest.mark.parametrize(
    ("name", "reasons", "words"),
    [
        ("pier-late", ["CertificateNotYetValid"], "is before"),
        ("pier-swaps", ["SwapOn"], "running with swap on is not supported"),
    ],
    ids=["a clock that is a year behind", "swap"],
)
def test_what_is_broken_is_the_reason(name: str, reasons: list[str], words: str, engine: Callable[..., None]) -> None:
    """The first reason in what an operator has of the machine is the cause."""
    engine("qemu", "kubeadm-1.34", "root-node-trixie")
    logs = traces(name)
    assert any(words in text for text in logs.values())
    seen = [finding.rule.reason for finding in diagnose([Log(path, text) for path, text in logs.items()]).findings]
    assert seen[:1] == reasons
