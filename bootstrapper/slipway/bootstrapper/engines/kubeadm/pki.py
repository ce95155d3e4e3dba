"""The cluster's keys and certificates as files of a control-plane machine, by reference and never by value.

Workers get none: they learn the CA by discovery. Source of paths, order and modes: Cluster API's util/secret.
"""

from collections.abc import Iterator

from slipway.bootstrapper.engines.kubeadm.layout import PKI_DIRECTORY
from slipway.bootstrapper.engines.kubeadm.request import EngineRequest, root_file
from slipway.bootstrapper.engines.request import GROUP_READABLE, PRIVATE
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1.content_pb2 import SPLICE_ENCODING_RAW, Content, Segment


def pki_files(request: EngineRequest) -> list[ospb.File]:
    """Give the files of certificates and keys that the bundle has; none for a worker."""
    if not request.is_control_plane:
        return []
    credentials, etcd = request.intent.credentials, request.kubernetes.etcd
    folder = request.options.certificates_directory or PKI_DIRECTORY
    files = [*_pair(credentials.cluster_ca, f"{folder}/ca.crt", f"{folder}/ca.key")]
    if etcd.HasField("external"):
        files += _pair(credentials.etcd_ca, etcd.external.ca_file, "")
    else:
        files += _pair(credentials.etcd_ca, f"{folder}/etcd/ca.crt", f"{folder}/etcd/ca.key")
    files += _pair(credentials.front_proxy_ca, f"{folder}/front-proxy-ca.crt", f"{folder}/front-proxy-ca.key")
    files += _pair(credentials.service_account, f"{folder}/sa.pub", f"{folder}/sa.key")
    if etcd.HasField("external"):
        files += _pair(credentials.etcd_client, etcd.external.cert_file, etcd.external.key_file)
    return files


def _pair(pair: planpb.KeyPairReference, certificate_path: str, key_path: str) -> Iterator[ospb.File]:
    if pair.HasField("certificate"):
        yield _file(pair.certificate, certificate_path, GROUP_READABLE)
    if pair.HasField("private_key") and key_path:
        yield _file(pair.private_key, key_path, PRIVATE)


def _file(reference: secretpb.SecretReference, path: str, mode: int) -> ospb.File:
    segment = Segment(secret_ref=reference, encoding=SPLICE_ENCODING_RAW)
    return root_file(path, Content(segments=[segment]), mode=mode)
