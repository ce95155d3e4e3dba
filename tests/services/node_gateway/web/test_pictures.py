"""The pictures of the web page in the documentation are taken of the page itself.

`make pictures` writes them; without it they are taken, measured and left out, since another version of the browser
draws letters in another way.
"""

import base64
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.services.node_gateway.web.served import LOGS, MACHINE, Web, serving
from tests.services.node_gateway.web.watched import Tab, tab_of
from tests.services.reports.made import BEGUN, COMPLETE, FAILED, KEY, bundle_of
from tools.oracles import browser

IMAGES = Path(__file__).parents[4] / "docs/images"
LARGEST = 60_000
"""Bytes of a picture."""
LOG = """\
I1126 08:14:02.117320     812 join.go:412] [preflight] found NodeName empty; using OS hostname as NodeName
I1126 08:14:02.118004     812 initconfiguration.go:122] detected and using CRI socket: unix:///run/containerd/containerd.sock
[preflight] Running pre-flight checks
I1126 08:14:02.118611     812 preflight.go:93] [preflight] Running general checks
error execution phase preflight: [preflight] Some fatal errors occurred:
\t[ERROR Swap]: running with swap on is not supported. Please disable swap
[preflight] If you know what you are doing, you can make a check non-fatal with `--ignore-preflight-errors=...`
"""  # as kubeadm writes it
PICTURES = {
    "web-page-fleet.webp": "/",
    "web-page-machine.webp": MACHINE,
    "web-page-logs.webp": f"{LOGS}?file=kubeadm.log",
}


async def add_fleet(web: Web) -> None:
    """Keep reports of two clusters, one of a machine that failed."""
    await web.add(FAILED, logs=bundle_of({"kubeadm.log": LOG.encode()}))
    for cluster, machine, events in (
        ("harbour", "worker-2", COMPLETE), ("harbour", "worker-3", COMPLETE), ("pier", "worker-1", COMPLETE),
        ("pier", "worker-2", BEGUN),
    ):  # fmt: skip
        await web.add(events, replace(KEY, cluster=cluster, machine=machine))


async def take(tab: Tab, path: str) -> bytes:
    """Give a picture of a page without its last line, which has the time; WebP, which Playwright does not offer."""
    await tab.go(path)
    box = await tab.page.locator("footer").bounding_box()
    assert box
    clip = {"x": 0, "y": 0, "width": 900, "height": box["y"], "scale": 1}
    session = await tab.page.context.new_cdp_session(tab.page)
    answer = await session.send(
        "Page.captureScreenshot", {"format": "webp", "quality": 80, "captureBeyondViewport": True, "clip": clip}
    )
    return base64.b64decode(answer["data"])


@pytest.mark.engine
@pytest.mark.timeout(300)
async def test_pictures_are_small_and_the_same_each_time(engine: Callable[..., None], tmp_path: Path) -> None:
    """Two pictures of a page are the same bytes, so that those of a page that has not changed make no difference."""
    engine("browser")
    async with serving(tmp_path) as web, browser.opened() as opened, tab_of(opened, web.port, scripts=False) as tab:
        await add_fleet(web)
        await web.diagnosed()
        for name, path in PICTURES.items():
            picture = await take(tab, path)
            assert picture == await take(tab, path)
            assert len(picture) < LARGEST, name
            if os.environ.get("SLIPWAY_WRITE_PICTURES") == "1":
                (IMAGES / name).write_bytes(picture)


def test_every_picture_is_shown() -> None:
    """Each is in the documentation once it was written, and no other file is beside them."""
    pages = "".join(page.read_text(encoding="utf-8") for page in IMAGES.parent.rglob("*.md"))
    assert {path.name for path in IMAGES.iterdir()} == set(PICTURES)
    assert {name for name in PICTURES if f"](../images/{name})" in pages} == set(PICTURES)
