"""Reads a page as a browser does, as far as the tests ask: its elements, and whether they are ours."""

from html.parser import HTMLParser

VOID = {"meta", "link", "input"}
TAGS = {
    "html", "head", "meta", "title", "link", "body", "header", "main", "footer", "a", "h1", "h2", "p", "b", "i", "bdi",
    "form", "label", "input", "select", "option", "button", "ul", "ol", "li", "table", "caption", "thead", "tbody",
    "tr", "th", "td", "section", "dl", "dt", "dd", "code", "nav",
}  # fmt: skip
"""Every element that the templates have."""


class Elements(HTMLParser):
    """The elements of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.refresh = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        values = dict(attrs)
        self.links += [values[name] or "" for name in ("href", "src", "action") if name in values]
        if values.get("http-equiv") == "refresh":
            self.refresh = values["content"] or ""
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


def check_page(html: str) -> Elements:
    """Give the elements; none is a stranger's, none does anything by itself, and nothing leads to another site."""
    page = Elements(html)
    assert page.tags <= TAGS, page.tags - TAGS
    assert not {name for name in page.attributes if name.startswith("on") or name == "style"}
    for link in page.links:
        assert link.startswith(("/", "?")), link
        assert not link.startswith("//"), link
    return page
