"""The web page in a real browser: people find what failed, and nothing that a machine wrote is executed."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.async_api import Browser, Route, expect

from tests.services.node_gateway.web.served import LOGS, MACHINE, Web, serving
from tests.services.node_gateway.web.watched import tab_of
from tests.services.reports.made import BEGUN, COMPLETE, FAILED, KEY, bundle_of, files_of
from tools.oracles import browser as chromium

pytestmark = [pytest.mark.engine, pytest.mark.long, pytest.mark.timeout(300)]
KUBEADM = b"[ERROR Swap]: running with swap on is not supported. Please disable swap\n"
HOSTILE = (
    b'"><script>owned=1;alert(1)</script></code></li></ol><h1>owned</h1><base href="http://evil.example/">'
    b'<img src="http://evil.example/x.png" onerror="owned=2"><style>body{display:none}</style>'
    b'<meta http-equiv="refresh" content="0;url=http://evil.example/"><svg onload="owned=3">'
    b'<a href="javascript:owned=4">go</a><iframe src="http://evil.example/"></iframe>\n'
)
HOSTILE_NAME = 'a"><script>owned=5</script>.log'
FOREIGN = "script:not([src]), script[src], img, svg, iframe, style, base, object, embed, [onload], [onerror], [style]"


@pytest.fixture
async def browser(engine: Callable[..., None]) -> AsyncIterator[Browser]:
    """A browser of the test's own."""
    engine("browser")
    async with chromium.opened() as opened:
        yield opened


async def add_fleet(web: Web) -> None:
    """Keep reports of two clusters: one failed with a log bundle, one unfinished, two complete."""
    await web.add(FAILED, logs=bundle_of({"kubeadm.log": b"line\n" * 30 + KUBEADM + HOSTILE, HOSTILE_NAME: HOSTILE}))
    for cluster, machine, events in (
        ("harbour", "worker-2", COMPLETE), ("pier", "worker-3", BEGUN), ("pier", "worker-4", COMPLETE),
    ):  # fmt: skip
        await web.add(events, replace(KEY, cluster=cluster, machine=machine))


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
async def test_people_find_what_failed(browser: Browser, tmp_path: Path, scripts: bool) -> None:
    """From all machines by the filter to the step, its reason and its evidence, without JavaScript as with it."""
    async with serving(tmp_path) as web, tab_of(browser, web.port, scripts=scripts) as tab:
        await add_fleet(web)
        page = tab.page
        await tab.go("/")
        machines = page.locator("table.fleet a")
        await expect(machines).to_have_text(["worker-1", "worker-2", "worker-3", "worker-4"])
        await expect(page.locator(".counts")).to_contain_text("1 failed")

        await page.get_by_label("cluster").fill("harbour")
        await page.get_by_label("state").select_option("failed")
        await page.get_by_role("button", name="show").click()
        await expect(machines).to_have_text(["worker-1"])
        await page.locator(".counts a", has_text="complete").click()
        await expect(machines).to_have_text(["worker-2"])
        await page.go_back()

        await web.diagnosed()
        await machines.click()
        await expect(page.locator("#failing")).to_contain_text("20-kubeadm")
        await expect(page.locator(".finding").first).to_contain_text("SwapOn")
        await page.locator(".finding a").first.click()
        line = page.locator("li:target")
        await expect(line).to_have_text(KUBEADM.decode().strip())
        await expect(line).to_be_in_viewport()
        tab.check()


@pytest.mark.parametrize("path", ["/", MACHINE, LOGS, f"{LOGS}?file=kubeadm.log"])
async def test_nothing_that_a_machine_wrote_is_executed(browser: Browser, tmp_path: Path, path: str) -> None:
    """HTML in logs and in names of files: no element comes of it, no script runs, and the policy forbids nothing."""
    async with serving(tmp_path) as web, tab_of(browser, web.port) as tab:
        await add_fleet(web)
        await web.diagnosed()
        await tab.go(path)
        await expect(tab.page.locator("h1")).to_have_count(1)
        await expect(tab.page.locator("main").locator(FOREIGN)).to_have_count(0)
        assert await tab.page.evaluate("typeof owned") == "undefined"
        if "file=" in path:
            await expect(tab.page.locator("ol.log")).to_contain_text('"><script>owned=1;alert(1)</script></code>')
        tab.check()


async def test_a_log_file_with_a_hostile_name_is_opened(browser: Browser, tmp_path: Path) -> None:
    """Its link leads to its lines, and its name stays text."""
    async with serving(tmp_path) as web, tab_of(browser, web.port) as tab:
        await add_fleet(web)
        await tab.go(LOGS)
        await tab.page.locator("main td a", has_text="owned=5").click()
        await expect(tab.page.locator("ol.log li")).to_have_count(1)
        await expect(tab.page.locator("h2")).to_contain_text("<script>owned=5</script>")
        tab.check()


async def test_the_page_reads_itself_again(browser: Browser, tmp_path: Path) -> None:
    """A machine that reports later is there without a hand, and the filter stays; without JavaScript."""
    async with serving(tmp_path) as web, tab_of(browser, web.port, scripts=False) as tab:
        await add_fleet(web)
        await tab.go("/?state=failed")
        machines = tab.page.locator("table.fleet a")
        await expect(machines).to_have_text(["worker-1"])
        await web.add(FAILED, replace(KEY, machine="worker-9"))
        await expect(machines).to_have_text(["worker-1", "worker-9"])
        tab.check()


async def test_the_log_bundle_is_saved_as_a_file(browser: Browser, tmp_path: Path) -> None:
    """A click on the link saves what was kept, and shows nothing of it."""
    async with serving(tmp_path) as web, tab_of(browser, web.port) as tab:
        await add_fleet(web)
        await tab.go(MACHINE)
        async with tab.page.expect_download() as download:
            await tab.page.get_by_role("link", name="download the log bundle").click()
        saved = await download.value
        assert saved.suggested_filename == "worker-1-logs.tar.gz"
        await saved.save_as(tmp_path / "saved")
        assert set(files_of((tmp_path / "saved").read_bytes())) == {"kubeadm.log", HOSTILE_NAME}
        tab.check()


@pytest.mark.parametrize(
    ("markup", "problem"),
    [
        ("<script>owned=1</script>", "violation: script-src"),
        ('<img src="http://evil.example/x.png">', "violation: img-src"),
        ('<p style="color:red">x</p>', "violation: style-src"),
        ('<iframe src="http://evil.example/"></iframe>', "violation: frame-src"),
    ],
)
async def test_the_watch_sees_what_would_be_forbidden(
    browser: Browser, tmp_path: Path, markup: str, problem: str
) -> None:
    """Markup that is not escaped is noticed by the tests above, and the policy still keeps it from doing anything."""

    async def insert(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(response=answer, body=(await answer.text()).replace("<h1>", f"{markup}<h1>"))

    async with serving(tmp_path) as web, tab_of(browser, web.port) as tab:
        await add_fleet(web)
        await tab.page.route("**/", insert)
        await tab.go("/")
        await expect(tab.page.locator("h1")).to_be_visible()
        assert await tab.page.evaluate("typeof owned") == "undefined"
        assert any(entry.startswith(problem) for entry in tab.problems), tab.problems
