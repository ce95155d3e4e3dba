"""Explain reports what was added to the list of a proxy."""

import pytest

from slipway.bootstrapper.assembly.direct_hosts import complete_no_proxy
from slipway.bootstrapper.assembly.subject import check
from slipway.bootstrapper.explain_diagnostics import completed_proxies
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb


@pytest.mark.parametrize("only", [False, True])
def test_each_list_is_reported(only: bool) -> None:
    """With the field, and without what was written there; a list that is complete is not reported."""
    proxy = ospb.Proxy(http_proxy="http://h:1", no_proxy=["a.example.com", ".svc"], no_proxy_only=only or None)
    spec = specpb.MachineBootstrapSpec(os=ospb.OperatingSystem(proxy=proxy, containerd=ospb.Containerd(proxy=proxy)))
    cluster = clusterpb.Cluster(
        name="c", kubernetes_version="v1.34.2", endpoint=clusterpb.Endpoint(host="api.example.com")
    )
    machine = clusterpb.Machine(name="m", role=clusterpb.ROLE_WORKER)
    subject = check(bootstrappb.Subject(spec=spec, cluster=cluster, machine=machine))
    neutral = bundlepb.BootstrapBundle(os=subject.spec.os)
    complete_no_proxy(neutral.os, cluster, spec.kubernetes, infrastructure="")
    reported = list(completed_proxies(subject, neutral))
    assert [each.field_path for each in reported] == ([] if only else ["spec.os.proxy", "spec.os.containerd.proxy"])
    for each in reported:
        assert "localhost, 127.0.0.1" in each.message
        assert ".cluster.local" in each.message
        assert not any(f"{word}," in each.message for word in ("a.example.com", " .svc"))
