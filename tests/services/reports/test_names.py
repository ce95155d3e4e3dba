"""The names of kept objects: each says all that a list shows, no two things have the same, and none leads elsewhere."""

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.reports.names import BundleKey, Entry, EventsName, LogsName, NameInvalid, Summary, folder_of
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.reports.made import KEY

LABELS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
KEYS = st.builds(
    BundleKey,
    namespace=LABELS,
    cluster=st.lists(LABELS, min_size=1, max_size=3).map(".".join),
    machine=st.lists(LABELS, min_size=1, max_size=3).map(".".join),
    bundle_id=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,20}", fullmatch=True),
)
DIGESTS = st.from_regex(r"[0-9a-f]{16}", fullmatch=True)
TIMES = st.integers(0, 9_999_999_999_999)
SUMMARIES = st.builds(
    Summary,
    state=st.sampled_from([number for number in reportspb.ReportState.values() if number]),
    phase=st.sampled_from(planpb.Phase.values()),
    step=LABELS | st.just(""),
    exit_code=st.integers(-(2**31), 2**31 - 1),
    reason=st.from_regex(r"([A-Z][A-Za-z0-9]{0,62})?", fullmatch=True),
)
LOGS_REASONS = st.from_regex(r"([A-Z][A-Za-z0-9]{0,62})?", fullmatch=True)
NAMES = st.builds(LogsName, TIMES, DIGESTS, LOGS_REASONS) | st.builds(
    EventsName, TIMES, st.sampled_from([number for number in reportspb.ReportSource.values() if number]), DIGESTS,
    SUMMARIES,
)  # fmt: skip


@given(KEYS, NAMES, st.integers(0, 10**9))
def test_a_name_is_read_as_it_was_made(key: BundleKey, name: EventsName | LogsName, size: int) -> None:
    """All facts come back from the name: so no two objects have the same one."""
    entry = Entry(key, name, size)
    assert Entry.of(entry.path, size) == entry
    assert len(name.text()) <= 255
    assert PurePosixPath(entry.path).parts == (*PurePosixPath(folder_of(key.namespace, key.cluster, key.machine)).parts,
                                               key.bundle_id, name.text())  # fmt: skip


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("namespace", ".."), ("namespace", ""), ("namespace", "a/b"), ("namespace", "A"), ("namespace", "a" * 64),
        ("cluster", "../x"), ("cluster", "."), ("cluster", "a..b"), ("cluster", "a" * 64), ("cluster", "a\n"),
        ("machine", "a/../../b"), ("machine", ""), ("machine", "a%2fb"), ("machine", "a\\b"), ("machine", "a\0"),
        ("machine", "é"), ("machine", "a."), ("bundle_id", ".."), ("bundle_id", "."), ("bundle_id", ""),
        ("bundle_id", "a/b"), ("bundle_id", "a" * 129), ("bundle_id", "-a"), ("bundle_id", "a\n"),
    ],
)  # fmt: skip
def test_a_part_that_leads_elsewhere_is_refused(part: str, text: str) -> None:
    """No separator, no empty part, no dots alone, no letters with two forms; the message has no word of it."""
    parts = {"namespace": "n", "cluster": "c", "machine": "m", "bundle_id": "b"} | {part: text}
    with pytest.raises(NameInvalid) as refused:
        BundleKey(**parts)
    assert str(refused.value).startswith(part)


@pytest.mark.parametrize(
    "path",
    [
        "reports/n/c/m/b", "reports/n/c/m/b/x/1800000000000_logs_0123456789abcdef.tar.gz",
        "other/n/c/m/b/1800000000000_logs_0123456789abcdef.tar.gz",
        "reports/n/c/m/b/1800000000000_logs_0123456789ABCDEF.tar.gz",
        "reports/n/c/m/b/1800000000000_sink_0123456789abcdef_failed_sideways_1_Reason_step.jsonl",
        "reports/n/c/m/../1800000000000_logs_0123456789abcdef.tar.gz",
    ],
)  # fmt: skip
def test_what_is_not_ours_is_not_read(path: str) -> None:
    """A store may hold other objects: they are left alone."""
    assert Entry.of(path, 1) is None


def test_a_folder_is_of_what_it_names() -> None:
    """A machine without its cluster would be a cluster of that name."""
    assert folder_of("n") == folder_of("n", "", "m") == "reports/n"
    assert folder_of("n", "c", "m") + f"/{KEY.bundle_id}" == BundleKey("n", "c", "m", KEY.bundle_id).folder
