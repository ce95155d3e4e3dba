"""Files with facts of an imported config are written by the first-boot system, as early as today, wherever it can."""

import pytest
from google.protobuf import text_format

from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.lowering.early_files import forget_names, name_facts
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

JINJA = "cloud-init.slipway.dev/jinja"
READER = "text/cloud-config"
SUPPORTS = [provisionerpb.FeatureSupport(id=id_) for id_ in ("os.files", "os.files.extensions", f"ext.{JINJA}")]
HOST = "segments { data: 'host ' } segments { fact { kind: FACT_KIND_LOCAL_HOSTNAME } }"


def draft(content: str = HOST, *, file: str = "", imported: bool = True, infrastructure: str = "metal") -> Draft:
    """Make a draft with one file of root's."""
    bundle = bundlepb.BootstrapBundle()
    text_format.Parse(
        f"files {{ path: '/a' owner: 'root' group: 'root' mode: 420 {file} content {{ {content} }} }}", bundle.os
    )
    bundle.execution.literal_commands = imported
    return Draft(bundle, known_profile=None, target=clusterpb.Target(infrastructure=infrastructure))


def test_a_fact_becomes_the_name_that_the_reader_has_for_it() -> None:
    """And the fact again, where the provisioner refuses the file after all."""
    work = draft()
    before = name_facts(work, SUPPORTS, READER)
    assert before is not None
    assert before.bundle == draft().bundle
    (text, name) = work.bundle.os.files[0].content.segments
    assert (text.data, name.extension.id, name.extension.text) == (b"host ", JINJA, "{{ ds.meta_data.local_hostname }}")
    forget_names(work, {"os.files[1]": None}, READER)
    assert work.bundle != before.bundle
    forget_names(work, {"os.files[0]": None}, READER)
    assert work.bundle == before.bundle


FACT = "segments { fact { kind: FACT_KIND_LOCAL_HOSTNAME } }"


@pytest.mark.parametrize(
    ("work", "reason"),
    [
        (draft(imported=False), "a spec of ours: a fact means the same everywhere"),
        (draft(infrastructure="equinix"), "its provider takes templates for its own"),
        (draft("data: 'a'"), "there is no fact"),
        (draft("segments { fact { kind: FACT_KIND_AVAILABILITY_ZONE } }"), "the first of several names counts"),
        (draft("segments { fact { kind: FACT_KIND_PROVIDER_ID } }"), "the reader has no name for it"),
        (draft("segments { fact { kind: FACT_KIND_LOCAL_HOSTNAME } encoding: SPLICE_ENCODING_BASE64 }"), "encoded"),
        (draft(f"{FACT} segments {{ secret_ref {{ name: 'a' }} }}"), "what the secret holds is not known"),
        (draft(f"{FACT} segments {{ data: '\\033' }}"), "a block of text cannot hold it"),
        (draft(f"{FACT} segments {{ data: 'a \\nb' }}"), "nor a blank at the end of a line"),
        (draft(f"{FACT} segments {{ data: ' ' }}"), "nor one at the end"),
        (draft(file="append: true"), "it is appended by the runner"),
        (draft(file="origin { made_by: 'kubeadm' }"), "it is the engine's, whose facts are checked"),
    ],
)  # fmt: skip
def test_other_files_keep_their_facts(work: Draft, reason: str) -> None:
    """The runner writes them, as before."""
    assert name_facts(work, SUPPORTS, READER) is None, reason


@pytest.mark.parametrize(("supports", "reader"), [(SUPPORTS[:1], READER), (SUPPORTS, "application/json")])
def test_a_format_without_the_language_keeps_facts(supports: list[provisionerpb.FeatureSupport], reader: str) -> None:
    """Whether its provisioner does not declare it, or its reader is another one."""
    assert name_facts(draft(), supports, reader) is None
