"""What documents of very many values cost: they are read once, whatever they are."""

import tracemalloc

import pytest

from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.contract.source_position import SourceError, did_you_mean
from tests.counted_work import calls_made

pytestmark = pytest.mark.long

_TEMPLATE = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfigTemplate\nmetadata: {name: a}\nspec:\n"
_MANY = "[" + "[0]," * 10_000 + "]"
MIB = 2**20


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"{_TEMPLATE}  template: {{spec: {{x: {_MANY}}}}}\n", "spec.template.spec.x: unknown field"),
        (f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{x: {_MANY}}}\n", "data.x: must be text"),
    ],
    ids=["config", "ConfigMap"],
)
def test_documents_are_read_once(text: str, place: str) -> None:
    """Their values and the places of them are in memory once: some 500 bytes for each, and the text."""
    tracemalloc.start()
    try:
        with pytest.raises(SourceError, match=place):
            read_document_set({"f.yaml": text}, variables={})
        assert tracemalloc.get_traced_memory()[1] < 14 * MIB
    finally:
        tracemalloc.stop()


def test_a_file_of_too_many_values_is_named_with_the_place() -> None:
    """The field where the bound is reached; what is read until then is bounded."""
    text = _TEMPLATE + "  template: {spec: {x: [" + "[0]," * 130_000 + "]}}\n"
    with pytest.raises(SourceError, match=r"f\.yaml:5:\d+: spec\.template\.spec\.x\[12\d+\].*more than 250000 values"):
        read_document_set({"f.yaml": text}, variables={})


def test_files_of_one_call_are_bounded_together() -> None:
    """Each of four files is within its bound; what is read of them is kept, so that no more of them is than of one."""
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: [" + "0," * 100_000 + "]}\n"
    tracemalloc.start()
    try:
        with pytest.raises(SourceError, match=r"f2:4:\d+: data\.x\[\d+\]: more than 250000 values in all"):
            read_document_set({f"f{number}": text for number in range(4)}, variables={})
        assert tracemalloc.get_traced_memory()[1] < 160 * MIB
    finally:
        tracemalloc.stop()


def test_very_many_problems_are_counted() -> None:
    """A proposal for each of them would take seconds; the first are named, and the others counted."""
    text = _TEMPLATE + "  template:\n    spec:\n" + "".join(f"      x{number}: 1\n" for number in range(20_000))
    raised: list[SourceError] = []

    def read() -> None:
        with pytest.raises(SourceError) as caught:
            read_document_set({"f.yaml": text}, variables={})
        raised.append(caught.value)

    # Two lists of candidates for each that is named.
    assert calls_made(read, did_you_mean) <= 2 * 1000
    assert len(raised[0].problems) == 1001
    assert raised[0].problems[0].path == "spec.template.spec.x0"
    assert raised[0].problems[-1].message == "19000 more problems are not shown: correct these first"
