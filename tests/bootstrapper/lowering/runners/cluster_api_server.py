"""An API server as a machine sees it that reports to its cluster: TLS on both sides, and what admission lets through.

What it refuses is what the manifests of deploy/kubernetes/workload-reports refuse.
"""

import base64
import json
import ssl
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

OBJECTS = "/api/v1/namespaces/slipway-reports/configmaps/"
REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def certificate(name: str, signer: "Signed | None" = None) -> "Signed":
    """Give a certificate with a key; an authority where nothing signs it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if signer is None else signer.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=signer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key if signer is None else signer.key, hashes.SHA256())
    )
    return Signed(made, key)


@dataclass
class Signed:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        """Certificate and key in one file, as a kubelet has them."""
        key = self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return self.certificate.public_bytes(Encoding.PEM) + key


@dataclass(frozen=True)
class Kubelet:
    """What a kubelet's kubeconfig says.

    Attributes:
        address: of the API server.
        authority: its certificate.
        pem: certificate and key of the kubelet.
    """

    address: str
    authority: bytes
    pem: bytes

    def write(self, folder: Path, *, as_seen: str) -> None:
        """Write it as kubeadm does, with the certificate beside it; the machine has the folder as `as_seen`."""
        (folder / "kubelet.pem").write_bytes(self.pem)
        (folder / "kubelet.conf").write_text(
            "apiVersion: v1\nclusters:\n- cluster:\n"
            f"    certificate-authority-data: {base64.b64encode(self.authority).decode()}\n    server: {self.address}\n"
            "  name: default-cluster\ncontexts:\n- context:\n    cluster: default-cluster\n    user: default-auth\n"
            "  name: default-context\ncurrent-context: default-context\nkind: Config\nusers:\n- name: default-auth\n"
            f"  user:\n    client-certificate: {as_seen}/kubelet.pem\n    client-key: {as_seen}/kubelet.pem\n"
        )


@dataclass
class ApiServer:
    """A server on loopback.

    Attributes:
        folder: for its certificates.
        status: its answer to a write where it is not 200.
        hangs: it answers nothing until it is closed.
        token: the bootstrap token that it knows.
        objects: the events of each object, by name.
        writes: how many writes were let through.
        refused: how many were not.
    """

    folder: Path
    status: int = 200
    hangs: bool = False
    token: str = ""
    objects: dict[str, str] = field(default_factory=dict)
    writes: int = 0
    refused: int = 0
    requests: list[str] = field(default_factory=list)
    closed: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.authority = certificate("kubernetes")
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.answer(self)

            def do_PATCH(self) -> None:
                server.answer(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name in the base class
                del format, args

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        own = self.folder / "server.pem"
        own.write_bytes(certificate("kube-apiserver", self.authority).pem)
        context.load_cert_chain(own)
        context.load_verify_locations(cadata=self.authority_pem.decode())
        context.verify_mode = ssl.CERT_OPTIONAL
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def authority_pem(self) -> bytes:
        """Certificate of its authority."""
        return self.authority.certificate.public_bytes(Encoding.PEM)

    @property
    def address(self) -> str:
        """Scheme, host and port."""
        return f"https://127.0.0.1:{self.server.server_address[1]}"

    def kubelet(self, user: str, *, address: str = "") -> Kubelet:
        """Give what the kubelet of a user has, which may know another address."""
        return Kubelet(address or self.address, self.authority_pem, certificate(user, self.authority).pem)

    def answer(self, handler: Any) -> None:
        """Answer a request."""
        if self.hangs:
            self.closed.wait(30)
            return
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        user, path = self._user(handler), handler.path.partition("?")[0]
        self.requests.append(f"{handler.command} {handler.path}")
        if path == REVIEWS:
            review = {
                "kind": "SelfSubjectReview",
                "status": {"userInfo": {"username": user, "groups": ["system:nodes"]}},
            }
            self._send(handler, 201, json.dumps(review, indent=2))
            return
        is_write = handler.command == "PATCH" and handler.headers["Content-Type"] == "application/apply-patch+yaml"
        if self.status != 200 or not is_write or not self._take(user, path, yaml.safe_load(body)):
            self.refused += 1
            self._send(handler, 403 if self.status == 200 else self.status, "{}")
            return
        self._send(handler, 200, "{}")

    def _take(self, user: str, path: str, body: Any) -> bool:
        name, events = path.removeprefix(OBJECTS), body["data"].get("events", "")
        metadata = {"name": name}
        whole = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"events": events}}
        names = {f"system:node:{name}", name.replace("bootstrap-token-", "system:bootstrap:")}
        if user not in names or body != whole or len(events) > 8192:
            return False
        self.objects[name] = events
        self.writes += 1
        return True

    def _user(self, handler: Any) -> str:
        """Give who asks: by a certificate, or else by the bootstrap token."""
        certificate = handler.connection.getpeercert()
        if certificate:
            return str(dict(part[0] for part in certificate["subject"])["commonName"])
        token = handler.headers.get("Authorization", "").removeprefix("Bearer ")
        return f"system:bootstrap:{token.partition('.')[0]}" if token and token == self.token else "system:anonymous"

    @staticmethod
    def _send(handler: Any, status: int, text: str) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text.encode())

    def close(self) -> None:
        """End it."""
        self.closed.set()
        self.server.shutdown()
        self.server.server_close()
