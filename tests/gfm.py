"""What GitHub makes of Markdown: its own parser (cmark-gfm), then the searches it does in the rendered text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import cmarkgfm
from cmarkgfm.cmark import Options

from hz_team.markdown.text import BREAK

REFERENCE = re.compile(
    r"#[0-9]|\bGH-[0-9]|https?://github\.com/[^/\s]+/[^/\s]+/(?:issues|pull|commit|discussions)/", re.IGNORECASE
)
MENTION = re.compile(r"(?<![A-Za-z0-9])@[A-Za-z0-9]")


class Page(HTMLParser):
    """One rendered page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.html: str = cmarkgfm.github_flavored_markdown_to_html(text, options=Options.CMARK_OPT_UNSAFE)
        self.text: list[str] = []
        self.loose: list[str] = [""]
        """Runs of text outside links and code: where mentions and references are looked for."""
        self.boxes: list[bool] = []
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.comments: list[str] = []
        self._sheltered = 0
        self.feed(self.html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.add(tag)
        if tag == "input" and found.get("type") == "checkbox":
            self.boxes.append("checked" in found)
        if tag in {"a", "img"}:
            self.links.append(found.get("href") or found.get("src") or "")
        self._sheltered += tag in {"a", "code"}
        self.loose.append("")

    def handle_endtag(self, tag: str) -> None:
        self._sheltered -= tag in {"a", "code"}
        self.loose.append("")

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if not self._sheltered:
            self.loose[-1] += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def visible(self) -> str:
        """The words a person sees, with single blanks."""
        return " ".join("".join(self.text).replace(BREAK, "").split())

    @property
    def acting(self) -> list[str]:
        """Mentions, references and back-references that GitHub would make."""
        found = [part for part in self.loose if MENTION.search(part) or REFERENCE.search(part)]
        return found + [link for link in self.links if REFERENCE.match(link)]
