"""The verdict on documents is that of Kubernetes' own strict decoder.

`make kubernetes-types` asks it, built from the Go modules of each version, about some thousand documents, each with one
thing changed, and keeps its answers beside this file.
"""

import json
from pathlib import Path

import pytest

from slipway.bootstrapper.kubernetes_documents.strict_decoding import mistakes
from slipway.bootstrapper.kubernetes_documents.type_table import Known, type_table
from tools.kubernetes_types.mutations import questions

pytestmark = pytest.mark.long

VERDICTS = json.loads(Path(__file__).with_name("verdicts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("version", VERDICTS)
def test_the_verdict_is_that_of_the_strict_decoder(version: str) -> None:
    """On every document of every kind, for every version of the table."""
    major, minor = map(int, version.split("."))
    table = type_table((major, minor))
    documents, answers = questions(), VERDICTS[version]
    assert len(documents) == len(answers)
    assert {"0", "1"} == set(answers)
    different = []
    for question, answer in zip(documents, answers, strict=True):
        known, type_name = table.kind(*question["Kind"].split(" "))
        assert known is Known.YES
        accepted = not list(mistakes(json.loads(question["Document"]), type_name, table))
        if accepted != (answer == "1"):
            different.append(question)
    assert not different


def test_what_a_version_outside_the_table_may_have_is_uncertain() -> None:
    """A newer version may have a field or a kind that no known one has; what is known has its type there as well."""
    table = type_table((1, 99))
    assert table.field(table.kind("v1", "Pod")[1], "novel")[0] is Known.UNCERTAIN
    assert table.kind("audit.k8s.io/v2", "Policy")[0] is Known.UNCERTAIN
    assert table.kind("audit.k8s.io/v1", "Policy")[0] is Known.YES
    (wrong,) = mistakes({"rules": [{"level": 5}]}, table.kind("audit.k8s.io/v1", "Policy")[1], table)
    (unknown,) = mistakes({"novel": 5}, table.kind("audit.k8s.io/v1", "Policy")[1], table)
    assert (wrong.certain, unknown.certain) == (True, False)


def test_a_field_belongs_to_the_versions_that_have_it() -> None:
    """The kubelet's crashLoopBackOff came after 1.30."""
    name = "kubelet.config.k8s.io/v1beta1", "KubeletConfiguration"
    older, newer = type_table((1, 30)), type_table((1, 34))
    assert older.field(older.kind(*name)[1], "crashLoopBackOff")[0] is Known.NO
    assert newer.field(newer.kind(*name)[1], "crashLoopBackOff")[0] is Known.YES
