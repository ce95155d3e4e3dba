"""The web page shows what the store has, and nothing that a machine writes does anything to a browser."""

from dataclasses import replace
from pathlib import Path

import pytest

from slipway.node_gateway.web.application import STYLE
from slipway.node_gateway.web.fleet import PAGE
from slipway.reports.log_reader import LONGEST_LINE, MOST_LINES
from tests.services.node_gateway.web.html_reading import check_page
from tests.services.node_gateway.web.served import ARCHIVE, CONSOLE, LOGS, MACHINE, Web, serving
from tests.services.reports.made import BEGUN, COMPLETE, FAILED, KEY, bundle_of, event, file_of, files_of

pytestmark = pytest.mark.long

POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
SWAP = b"[ERROR Swap]: running with swap on is not supported. Please disable swap"
KUBEADM = SWAP + b"\nerror execution phase preflight: [preflight] Some fatal errors occurred:\n"


async def add_fleet(web: Web) -> None:
    """Keep reports of two clusters: one failed, one unfinished, two complete."""
    for cluster, machine, events in (
        ("harbour", "a-1", FAILED), ("harbour", "a-2", COMPLETE), ("pier", "b-1", BEGUN), ("pier", "b-2", COMPLETE),
    ):  # fmt: skip
        await web.add(events, replace(KEY, cluster=cluster, machine=machine))


async def test_the_fleet_is_a_table_with_counts(tmp_path: Path) -> None:
    """Each machine is there with state, step and reason, below its cluster; the counts are those of the table."""
    async with serving(tmp_path) as web:
        await add_fleet(web)
        page = await web.get("/")
        assert page.status == 200
        elements = check_page(page.html)
        assert elements.refresh == "10"
        assert {"/machines/default/harbour/a-1", "/machines/default/pier/b-2"} <= {*elements.links}
        for text in ("<b>1</b> failed", "<b>1</b> unfinished", "<b>2</b> complete", "20-kubeadm", "4 machines"):
            assert text in page.html
        assert page.html.index(">harbour</th>") < page.html.index(">a-1<") < page.html.index(">pier</th>")
        assert '>CommandFailed</a></td><td class="number">1</td>' in page.html


@pytest.mark.parametrize(
    ("query", "machines", "reason"),
    [
        ("?state=failed", ["a-1"], "by state"),
        ("?cluster=pier", ["b-1", "b-2"], "by cluster"),
        ("?cluster=pier&state=complete", ["b-2"], "by both"),
        ("?reason=CommandFailed", ["a-1"], "by reason"),
        ("?machine=-2", ["a-2", "b-2"], "by a part of the name"),
        ("?state=&machine=", ["a-1", "a-2", "b-1", "b-2"], "what the form sends for nothing"),
        ("?namespace=other", [], "another namespace has none"),
    ],
)
async def test_the_fleet_is_filtered_by_the_address(
    tmp_path: Path, query: str, machines: list[str], reason: str
) -> None:
    """A filter is a query string, so that it can be kept as a bookmark."""
    async with serving(tmp_path) as web:
        await add_fleet(web)
        links = check_page((await web.get(f"/{query}")).html).links
        assert [link.rpartition("/")[2] for link in links if link.startswith("/machines/")] == machines, reason


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/?state=broken", "state: must be one of"),
        ("/?page=0", "page: must be a number"),
        ("/?page=1e3", "page: must be a number"),
        ("/?color=red", "a parameter that this page does not know"),
        ("/?state=failed&state=complete", "state: must be there once"),
        ("/?namespace=A", "namespace: "),
        ("/?namespace=../x", "namespace: "),
        ("/?machine=" + "m" * 254, "machine: must have at most 253 characters"),
        (f"{MACHINE}?bundle=a/b", "bundle_id: "),
        ("/machines/default/harbour/..%2f..%2fetc", "machine.name: "),
        ("/machines/default/%00/worker-1", "machine.cluster: "),
        (f"{LOGS}?first=-1", "first: must be a number"),
    ],
)
async def test_an_address_that_cannot_be_meant_is_refused(tmp_path: Path, path: str, text: str) -> None:
    """What is not known, or breaks its grammar, is an error that names the part; never a guess."""
    async with serving(tmp_path) as web:
        page = await web.get(path)
        assert (page.status, text in page.text) == (400, True), page.text
        check_page(page.html)


async def test_a_large_fleet_is_shown_by_page(tmp_path: Path) -> None:
    """A page has so many machines at most, and leads to the others with the same filter."""
    async with serving(tmp_path) as web:
        for number in range(PAGE + 3):
            await web.add(BEGUN, replace(KEY, machine=f"m-{number:04}"))
        first = await web.get("/?state=unfinished")
        links = check_page(first.html).links
        assert sum(link.startswith("/machines/") for link in links) == PAGE
        assert f"{PAGE + 3} machines, page 1 of 2" in first.html
        (following,) = [link for link in links if "page=2" in link]
        second = await web.get(f"/{following}")
        assert [link[-6:] for link in check_page(second.html).links if link.startswith("/machines/")] == [
            "m-0200", "m-0201", "m-0202",
        ]  # fmt: skip
        assert f"<b>{PAGE + 3}</b> unfinished" in second.html


async def test_a_machine_has_a_timeline_and_a_diagnosis(tmp_path: Path) -> None:
    """Phases and steps with their durations, the step that failed, and from the logs reason, evidence and remedy."""
    async with serving(tmp_path) as web:
        await web.add(FAILED, logs=bundle_of({"kubeadm.log": b"\n" * 30 + KUBEADM}))
        page = await web.diagnosed()
        elements = check_page(page.html)
        assert elements.refresh == "10"
        for text in ("failed in step 20-kubeadm: CommandFailed, exit code 1", "<b>SwapOn</b>", SWAP.decode(),
                     "Disable swap in the image", "docs/reference/reasons.md#swapon",
                     '<td>bootstrap</td><td class="number">2 s</td>'):  # fmt: skip
            assert text in page.text, text
        failing = page.html.partition('id="failing"')[2].partition("</tr>")[0]
        assert "<td>20-kubeadm</td><td>failed</td>" in failing
        (evidence,) = [link for link in elements.links if link.endswith("#L31")]
        shown = await web.get(evidence.partition("#")[0])
        assert '<li id="L31"><code>[ERROR Swap]' in shown.html
        assert '<ol class="log" start="11">' in shown.html


async def test_a_machine_that_is_complete_is_not_diagnosed(tmp_path: Path) -> None:
    """Its logs may hold errors that were over later: they would mislead."""
    async with serving(tmp_path) as web:
        await web.add(COMPLETE, logs=bundle_of({"kubeadm.log": KUBEADM}))
        page = await web.get(MACHINE)
        assert (page.status, "Diagnosis" in page.html, "SwapOn" in page.html) == (200, False, False)
        assert "<b>complete</b>" in page.html


async def test_each_source_has_its_timeline(tmp_path: Path) -> None:
    """What a console shows stands behind what the machine sent, and says so."""
    async with serving(tmp_path) as web:
        await web.add(COMPLETE)
        await web.store.add_events(KEY, CONSOLE, FAILED)
        page = await web.get(MACHINE)
        assert page.html.index("Reported by the machine") < page.html.index("Reported by the console")
        assert page.html.index("<b>complete</b>") < page.html.index("<b>failed in step")


async def test_a_timeline_of_many_steps_is_bounded(tmp_path: Path) -> None:
    """Of a thousand events a page has the last two hundred, and says how many are left out."""
    steps = [event(number, "FAILED", f"{number:04}-x", exitCode=1, reason="CommandFailed") for number in range(1, 400)]
    async with serving(tmp_path) as web:
        await web.add(file_of(*steps))
        page = await web.get(MACHINE)
        assert "199 earlier ones are left out" in page.html
        assert page.html.count("<tr class=") == 200


async def test_nothing_that_a_machine_writes_does_anything(tmp_path: Path) -> None:
    """HTML, terminal escapes, marks that turn the direction of writing: shown as text, or not at all."""
    hostile = (
        b'"><script>alert(1)</script> <img src=x onerror=alert(1)> </code></li></ol><h1>owned</h1>'
        b" {{ 7*7 }} &lt;b&gt;\n"
        b"\x1b]0;title\x07\x1b[31mred\x1b[0m \x1b]8;;http://evil.example/\x1b\\link\x1b]8;;\x1b\\\n"
        b"\xe2\x80\xaeright to left\xe2\x81\xa6 \x00\x08\x7f \xff\xfe bytes\n"
    )
    name = 'a"><script>alert(2)</script>.log'
    async with serving(tmp_path) as web:
        await web.add(FAILED, logs=bundle_of({name: hostile + KUBEADM.replace(b"Swap]", b"Swap]<script>x</script>")}))
        names = await web.get(LOGS)
        check_page(names.html)
        (link,) = [link for link in check_page(names.html).links if "file=" in link]
        page = await web.get(link)
        check_page(page.html)
        for text in (b"\x1b", b"\x07", "\u202e".encode(), "\u2066".encode(), b"\x00", b"\x08", b"\x7f"):
            assert text not in page.body, text
        for text in ('"><script>alert(1)</script>', "{{ 7*7 }} &lt;b&gt;", "red ", "link", "right to left"):
            assert text in page.text, text
        check_page((await web.diagnosed()).html)


async def test_long_logs_are_shown_in_parts(tmp_path: Path) -> None:
    """The end first, since that is where it failed; a line of any length is cut, and says so."""
    lines = b"".join(b"line %d\n" % number for number in range(1, 1301)) + b"z" * 3_000_000 + b"\n"
    async with serving(tmp_path) as web:
        await web.add(FAILED, logs=bundle_of({"a.log": lines}))
        page = await web.get(f"{LOGS}?file=a.log")
        assert f'start="{1301 - MOST_LINES + 1}"' in page.html
        assert f"<i>{3_000_000 - LONGEST_LINE} more characters</i>" in page.html
        assert len(page.html) < 100_000
        links = [link for link in check_page(page.html).links if "first=" in link]
        assert [link.rpartition("=")[2] for link in links] == ["1", "302"] * 2
        assert "<code>line 1</code>" in (await web.get(links[0])).html
        assert "<code>line 302</code>" in (await web.get(links[1])).html
        assert (await web.get(f"{LOGS}?file=a.log&first=1302")).status == 400
        assert (await web.get(f"{LOGS}?file=../../etc/passwd")).status == 400


async def test_the_log_bundle_is_downloaded_as_it_is(tmp_path: Path) -> None:
    """As a file, and never as a page; HEAD gives the same without the bytes."""
    bundle = bundle_of({"a.log": b"<script>alert(1)</script>\n"})
    async with serving(tmp_path) as web:
        await web.add(FAILED, logs=bundle)
        answer = await web.get(ARCHIVE)
        assert files_of(answer.body) == files_of(bundle)
        assert answer.headers["Content-Disposition"] == 'attachment; filename="worker-1-logs.tar.gz"'
        assert answer.headers["Content-Type"] == "application/gzip"
        head = await web.get(ARCHIVE, method="HEAD")
        assert (head.status, head.body) == (200, b"")


async def test_a_bundle_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    """The machine's page is there without a diagnosis, and the logs' page names the problem."""
    async with serving(tmp_path) as web:
        await web.add(FAILED, logs=b"\x1f\x8b damaged")
        machine, logs = await web.diagnosed(), await web.get(LOGS)
        assert (machine.status, logs.status) == (200, 422)
        assert "gzip data is damaged" in machine.text
        assert "gzip data is damaged" in logs.text


@pytest.mark.parametrize("path", ["/", MACHINE, LOGS, ARCHIVE, STYLE, "/healthz", "/nowhere", "/?state=broken"])
async def test_every_answer_binds_the_browser(tmp_path: Path, path: str) -> None:
    """No script and nothing of other sites is loaded, no site frames the page, and no address leaves it."""
    async with serving(tmp_path) as web:
        await web.add(FAILED, logs=bundle_of({"a.log": b"x\n"}))
        answer = await web.get(path)
        assert answer.headers["Content-Security-Policy"] == POLICY
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert "aiohttp" not in answer.headers["Server"]
        if path.startswith(("/?", "/machines")) or path == "/":
            assert answer.headers["Cache-Control"] == "no-store"
            assert answer.status in {200, 400}


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
async def test_it_is_read_only(tmp_path: Path, method: str) -> None:
    """Only GET and HEAD are answered."""
    async with serving(tmp_path) as web:
        for path in ("/", MACHINE, LOGS, ARCHIVE, STYLE):
            answer = await web.get(path, method=method)
            assert answer.status == 405
            assert answer.headers["Allow"] == "GET,HEAD"


async def test_what_is_not_there_is_not_found(tmp_path: Path) -> None:
    """A machine without a report, a report without logs, and a path of no page."""
    async with serving(tmp_path) as web:
        await web.add(FAILED)
        for path in ("/machines/default/harbour/other", LOGS, ARCHIVE, f"{MACHINE}?bundle=other", "/machines", "/x"):
            page = await web.get(path)
            assert page.status == 404, path
            check_page(page.html)


async def test_who_asks_too_often_waits(tmp_path: Path) -> None:
    """A peer's requests are limited as at the other listener; health is not."""
    async with serving(tmp_path, peer_requests_per_second=0.5) as web:
        statuses = [(await web.get("/")).status for _ in range(6)]
        assert (statuses[0], statuses[-1]) == (200, 503)
        assert (await web.get("/healthz")).status == 200
