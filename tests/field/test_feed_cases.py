"""Field kind B: what went wrong for people who read feeds, each with the right value."""

from __future__ import annotations

import time
from email.utils import formatdate
from typing import TYPE_CHECKING

import pytest

from hz_team.testing.feedserver import Answer, FeedServer
from tests.watches.looking import NOW, Look, entry, rss

if TYPE_CHECKING:
    from collections.abc import Iterator

HOUR, DAY = 3600, 86400
XML = {"Content-Type": "application/rss+xml"}


@pytest.fixture
def server() -> Iterator[FeedServer]:
    with FeedServer() as running:
        yield running


def feed(server: FeedServer, *names: str) -> Look:
    return Look("feed", {"urls": [server.url(name) for name in names or ("feed.xml",)]})


def ok(document: str | bytes, **headers: str) -> Answer:
    body = document.encode() if isinstance(document, str) else document
    return Answer(200, {**XML, **{name.replace("_", "-"): text for name, text in headers.items()}}, body)


@pytest.mark.parametrize("tag", ['W/"abc"', '"abc-gzip"', "unquoted", '"with \\"odd\\" marks"'])
def test_b01_the_tag_goes_back_as_it_came(server: FeedServer, tag: str) -> None:
    server.script("feed.xml", ok(rss(entry(1)), ETag=tag), Answer(304))
    look = feed(server)
    look()
    loads = look.loads
    second = look(NOW + HOUR)
    assert server.seen[1].headers["if-none-match"] == tag
    assert (second.items, second.unchanged, second.notes) == (None, 1, ())
    assert look.loads == loads, "a 304 loads nothing"


def test_b02_tag_and_date_are_a_pair_from_the_latest_answer(server: FeedServer) -> None:
    dates = formatdate(NOW, usegmt=True), formatdate(NOW + DAY, usegmt=True)
    server.script(
        "feed.xml",
        ok(rss(entry(1)), ETag='"a"', Last_Modified=dates[0]),
        Answer(304, {"ETag": '"b"', "Last-Modified": dates[1]}),
        Answer(304),
        ok(rss(entry(2)), ETag='"c"'),
        Answer(304),
    )
    look = feed(server)
    for hour in range(5):
        look(NOW + hour * HOUR)
    sent = [(seen.headers.get("if-none-match"), seen.headers.get("if-modified-since")) for seen in server.seen]
    assert sent == [(None, None), ('"a"', dates[0]), ('"b"', dates[1]), ('"b"', dates[1]), ('"c"', None)]


def test_b02_a_304_with_a_tag_alone_drops_the_old_date(server: FeedServer) -> None:
    date = formatdate(NOW, usegmt=True)
    server.script(
        "feed.xml", ok(rss(entry(1)), ETag='"a"', Last_Modified=date), Answer(304, {"ETag": '"b"'}), Answer(304)
    )
    look = feed(server)
    for hour in range(3):
        look(NOW + hour * HOUR)
    assert server.seen[2].headers["if-none-match"] == '"b"'
    assert "if-modified-since" not in server.seen[2].headers


def test_b03_an_empty_304_removes_nothing(server: FeedServer) -> None:
    server.script("feed.xml", ok(rss(entry(1), entry(2)), ETag='"a"'), Answer(304), ok(rss(entry(1), entry(2))))
    look = feed(server)
    look()
    before = look.items, look.cursor.seen
    look(NOW + HOUR)
    assert (look.items, look.cursor.seen) == before
    assert look(NOW + 2 * HOUR).added == 0


B05 = {
    "a guid is missing": (entry(1).replace("<guid>https://notes.example/1</guid>", ""),),
    "a guid is empty": ('<guid isPermaLink="false"/><title>Same</title><link>https://notes.example/x</link>',),
    "one link, three titles": (
        "<title>One</title><link>https://notes.example/x</link>",
        '<guid isPermaLink="false"/><title>Two</title><link>https://notes.example/x</link>',
        "<guid></guid><title>Three</title><link>https://notes.example/x</link>",
    ),
    "neither guid nor link": ("<title>One</title>", "<title>Two</title>", "<description>Only words</description>"),
}


@pytest.mark.parametrize("items", B05.values(), ids=B05)
def test_b05_missing_and_empty_guids(server: FeedServer, items: tuple[str, ...]) -> None:
    server.put("feed.xml", rss(*items))
    look = feed(server)
    assert look().added == len(items)
    server.put("feed.xml", rss(*items) + "<!-- built anew -->")
    assert look(NOW + HOUR).items is None, "nothing new, nothing changed"
    server.put("feed.xml", rss("<title>Four</title><link>https://notes.example/x</link>", *items))
    base = look.items
    look(NOW + 2 * HOUR)
    assert [item["title"] for item in look.since(base).added] == ["Four"]
    assert look.since(base).changed == ()


def test_b05_one_link_for_all_when_others_leave_the_window(server: FeedServer) -> None:
    one, two = (f"<title>{title}</title><link>https://notes.example/x</link>" for title in ("One", "Two"))
    look = feed(server)
    for hour, (items, added) in enumerate((((one,), 1), ((two, one), 1), ((two,), 0), ((one,), 0))):
        server.put("feed.xml", rss(*items))
        base = look.items
        assert look(NOW + hour * HOUR).added == added
        assert look.since(base).changed == ()
    assert sorted(look.titles) == ["One", "Two"]


def test_b07_a_flipped_scheme_is_nothing_new(server: FeedServer) -> None:
    server.put("feed.xml", rss(*(entry(number, scheme="http") for number in range(10))))
    look = feed(server)
    assert look().added == 10
    server.put("feed.xml", rss(*(entry(number, scheme="https") for number in range(10))))
    assert look(NOW + HOUR).items is None


def test_b07_a_mended_slug_is_one_change_and_never_new(server: FeedServer) -> None:
    date = formatdate(NOW - HOUR)
    look = feed(server)
    for number, slug in enumerate(("teh-title", "the-title", "the-title-again", "teh-title")):
        link = f"https://notes.example/{slug}"
        item = f"<guid>{link}</guid><title>The title</title><link>{link}</link><pubDate>{date}</pubDate>"
        server.put("feed.xml", rss(item))
        base = look.items
        look(NOW + number * HOUR)
        facets = look.since(base)
        assert (len(facets.added), len(facets.changed), len(facets.all)) == (int(number == 0), int(number > 0), 1)


def test_b07_a_new_guid_is_remembered(server: FeedServer) -> None:
    look, added = feed(server), []
    for hour, (guid, link, title) in enumerate(
        (("a", "1", "T"), ("b", "1", "T"), ("b", "2", "Another"), ("b", "3", "T3"))
    ):
        item = f"<guid isPermaLink='false'>{guid}</guid><title>{title}</title><link>https://notes.example/{link}</link>"
        server.put("feed.xml", rss(item))
        added.append(look(NOW + hour * HOUR).added)
    assert added == [1, 0, 0, 0]
    assert (look.titles, look.items[0]["id"]) == (["T3"], "notes.example#a")


def test_b07_two_posts_with_one_title_are_two(server: FeedServer) -> None:
    """The other side of the rule: an address that shows another picture each day, under the same words."""
    look = feed(server)
    for day in range(3):
        item = f"<guid isPermaLink='false'>{day}</guid><title>Picture of the day</title><link>https://notes.example/today</link>"
        server.put("feed.xml", rss(f"{item}<pubDate>{formatdate(NOW + day * DAY)}</pubDate>"))
        assert look(NOW + day * DAY).added == 1
    assert len(look.items) == 3


def test_b09_one_guid_for_all_is_no_identity(server: FeedServer) -> None:
    def item(number: int) -> str:
        when = formatdate(NOW - 10 * HOUR + number * HOUR)
        return f"<guid>https://notes.example/</guid><title>Note {number}</title><link>https://notes.example/{number}</link><pubDate>{when}</pubDate>"

    look = feed(server)
    counts = []
    for number, shown in enumerate(((1, 2), (1, 2), (1, 2, 3), (4,), (5, 4))):
        server.put("feed.xml", rss(*(item(which) for which in shown)) + f"<!-- {number} -->")
        counts.append(look(NOW + number * HOUR).added)
    assert counts == [2, 0, 1, 1, 1]


def test_b09_a_guid_that_turns_out_to_be_shared(server: FeedServer) -> None:
    look = feed(server)
    for shown, added in (((1,), 1), ((2, 1), 1), ((3, 2, 1), 1)):
        items = (
            f"<guid isPermaLink='false'>all</guid><title>Note {n}</title><link>https://notes.example/{n}</link>"
            for n in shown
        )
        server.put("feed.xml", rss(*items))
        assert look(NOW + added * HOUR).added == added
    assert sorted(look.titles) == ["Note 1", "Note 2", "Note 3"]


ACCENTS = rss(entry(1, title="Crème brûlée à 3 €"))
B11 = {
    "no charset": (ACCENTS.encode(), "text/xml"),
    "contradicting charset": (ACCENTS.encode(), "text/xml; charset=iso-8859-1"),
    "us-ascii": (ACCENTS.encode(), "text/xml; charset=us-ascii"),
    "no type at all": (ACCENTS.encode(), ""),
    "said to be HTML": (ACCENTS.encode(), "text/html"),
    "windows-1252 called utf-8": (ACCENTS.encode("cp1252"), "text/xml"),
    "utf-8 called iso-8859-1": (ACCENTS.replace("utf-8", "iso-8859-1").encode(), "text/xml"),
    "an unknown encoding": (ACCENTS.replace("utf-8", "x-none").encode(), "text/xml"),
    "a blank line first": (("\n\n" + ACCENTS).encode(), "text/xml"),
    "utf-8 with a mark": (ACCENTS.encode("utf-8-sig"), "text/xml; charset=utf-8"),
    "utf-16 called utf-8": (ACCENTS.encode("utf-16"), "text/xml"),
}


@pytest.mark.parametrize(("body", "kind"), B11.values(), ids=B11)
def test_b11_bozo_is_not_failure(server: FeedServer, body: bytes, kind: str) -> None:
    server.script("feed.xml", Answer(200, {"Content-Type": kind} if kind else {}, body))
    look = feed(server)
    look()
    assert look.titles == ["Crème brûlée à 3 €"]
    assert look.cursor.sources[server.url("feed.xml")].failures == 0


def test_b11_what_is_odd_is_said_and_taken(server: FeedServer) -> None:
    server.script("feed.xml", ok(ACCENTS.encode("cp1252")), ok(rss(entry(2)).replace("</channel></rss>", "<oops")))
    look = feed(server)
    look()
    assert look.notes == (f"learning: {server.url('feed.xml')}: its text is not utf-8; read as windows-1252",)
    assert look(NOW + HOUR).added == 1
    assert look.notes == (
        f"learning: {server.url('feed.xml')}: it is not well-formed XML; what could be read was taken",
    )


B13 = {
    "German weekday": "Mo, 05 Okt 2026 10:00:00 +0200",
    "German weekday alone": "Mo, 05 Oct 2026 10:00:00 +0200",
    "no zone": "Mon, 05 Oct 2026 10:00:00",
    "no zone, ISO": "2026-10-05T10:00:00",
    "an unknown zone": "Mon, 05 Oct 2026 10:00:00 XYZ",
    "blank": " ",
    "zeros": "0000-00-00",
    "zeros with a time": "0000-00-00T00:00:00Z",
    "no such day": "Mon, 31 Feb 2026 10:00:00 +0000",
    "words": "yesterday",
}


@pytest.mark.parametrize("date", B13.values(), ids=B13)
def test_b13_unknown_dates_stay_unknown(server: FeedServer, date: str) -> None:
    old = entry(1, date=formatdate(NOW - DAY))
    server.put("feed.xml", rss(old))
    look = feed(server)
    look()
    server.put("feed.xml", rss(old, entry(2).replace("</title>", f"</title><pubDate>{date}</pubDate>")))
    look(NOW + HOUR)
    server.put("feed.xml", rss(old, entry(2), entry(3, date=formatdate(NOW + 2 * HOUR))))
    look(NOW + 2 * HOUR)
    assert look.titles == ["Note 3", "Note 2", "Note 1"], "ordered by when it was first seen"
    assert "published" not in look.items[1]
    assert "date" not in look.items[1]


def test_b13_absent_dates(server: FeedServer) -> None:
    server.put("feed.xml", rss(entry(1), entry(2)))
    look = feed(server)
    look()
    assert look.titles == ["Note 1", "Note 2"], "the document's own order"
    assert all("published" not in item for item in look.items)


GOOD = {
    "Mon, 05 Oct 2026 10:00:00 +0200": "2026-10-05T08:00:00Z",
    "5 Oct 2026 10:00 GMT": "2026-10-05T10:00:00Z",
    "Monday, 05 Oct 26 10:00:00 EST": "2026-10-05T15:00:00Z",
    "2026-10-05T10:00:00.123+02:00": "2026-10-05T08:00:00Z",
    "2026-10-05 10:00:00 -0530": "2026-10-05T15:30:00Z",
    "2026-10-05T10:00Z": "2026-10-05T10:00:00Z",
    "2024-02-29T23:59:60Z": "2024-02-29T23:59:59Z",
}


@pytest.mark.parametrize(("date", "instant"), GOOD.items())
def test_b13_known_dates_are_known(server: FeedServer, date: str, instant: str) -> None:
    server.put("feed.xml", rss(entry(1, date=date)))
    look = feed(server)
    look()
    assert look.items[0]["published"] == instant


def test_b15_implausible_dates_neither_pin_nor_hide(server: FeedServer) -> None:
    far, past = "Tue, 01 Jan 2041 00:00:00 GMT", "1969-12-31T23:59:59Z"
    documents = [
        (entry(1, date=far),),
        (entry(2, date=formatdate(NOW - DAY)), entry(1, date=far)),
        (entry(3, date="Sat, 01 Jan 44798 00:00:00 GMT"), entry(2), entry(1, date=far), entry(4, date=past)),
        (entry(5, date=formatdate(NOW + 3 * HOUR)),),
    ]
    look, added = feed(server), []
    for hour, items in enumerate(documents):
        server.put("feed.xml", rss(*items))
        added.append(look(NOW + hour * HOUR).added)
    assert added == [1, 1, 2, 1]
    assert look.titles == ["Note 5", "Note 3", "Note 4", "Note 1", "Note 2"]
    marks = {item["title"]: (item.get("date"), item.get("published")) for item in look.items}
    assert marks["Note 1"] == marks["Note 3"] == marks["Note 4"] == ("implausible", None)
    server.put("feed.xml", rss(entry(1, date=far)) + " ")
    assert look(NOW + 20 * 365 * DAY).items is None, "what it was called when it was new stays"


LOGIN = b"<!DOCTYPE html><html><head><title>Welcome to the train</title></head><body>Log in</body></html>"


@pytest.mark.parametrize("status", [301, 308, 302, 307])
def test_b16_a_captive_portal_changes_nothing(server: FeedServer, status: int) -> None:
    server.script("feed.xml", ok(rss(entry(1)), ETag='"a"'), Answer(status, {"Location": "/login"}))
    server.script("login", Answer(200, {"Content-Type": "text/html", "ETag": '"portal"'}, LOGIN))
    look = feed(server)
    look()
    before, items = look.cursor.sources[server.url("feed.xml")], look.items
    polled = look(NOW + HOUR)
    after = look.cursor.sources[server.url("feed.xml")]
    assert polled.urgent
    assert "is no feed but a web page" in polled.notes[0]
    assert (after.validators, after.moved, after.paused, look.items) == (before.validators, {}, "", items)
    assert after.failures == 1


@pytest.mark.parametrize("status", [301, 308])
def test_b16_a_lasting_move_is_proposed_once(server: FeedServer, status: int) -> None:
    server.script("feed.xml", Answer(status, {"Location": "/new.xml?key=1"}), forever=True)
    server.put("new.xml", rss(entry(1)))
    look = feed(server)
    told = [look(NOW + day * DAY) for day in range(10)]
    notes = [(day, note) for day, polled in enumerate(told) for note in polled.notes]
    text = f"{server.url('feed.xml')} has moved for good to {server.url('new.xml')}; put the new address into the watch"
    assert notes == [(7, f"learning: {text}")]
    assert [polled.urgent for polled in told].index(True) == 7
    assert look.titles == ["Note 1"], "followed meanwhile"
    assert server.count("new.xml", 304) == 9


def test_b16_a_passing_move_is_forgotten(server: FeedServer) -> None:
    answer = Answer(301, {"Location": "/new.xml"})
    server.put("new.xml", rss(entry(1)))
    server.put("feed.xml", rss(entry(1)))
    server.script("feed.xml", *[answer] * 6)
    look = feed(server)
    notes = [note for day in range(6) for note in look(NOW + day * DAY).notes]
    look(NOW + 6 * DAY)
    assert look.cursor.sources[server.url("feed.xml")].moved == {}
    server.script("feed.xml", *[answer] * 6)
    assert notes + [note for day in range(7, 13) for note in look(NOW + day * DAY).notes] == []


def test_b17_gone_pauses_one_address(server: FeedServer) -> None:
    server.script("gone.xml", Answer(410), forever=True)
    server.put("feed.xml", rss(entry(1)))
    look = feed(server, "gone.xml", "feed.xml")
    polls = [look(NOW + hour * HOUR) for hour in range(3)]
    assert server.count("gone.xml") == 1
    assert server.count("feed.xml") == 3
    assert [(len(polled.notes), polled.urgent) for polled in polls] == [(1, True), (0, False), (0, False)]
    assert look.cursor.sources[server.url("gone.xml")].paused.startswith("410 Gone since 2026-10-07")
    assert len(look.cursor.warnings) == 1
    resumed = look.cursor.sources[server.url("gone.xml")]._replace(paused="")
    look.cursor = look.cursor._replace(sources={**look.cursor.sources, server.url("gone.xml"): resumed})
    look(NOW + 3 * HOUR)
    assert server.count("gone.xml") == 2


B18 = {
    "7200": 7200,
    "99999999": DAY,
    "9" * 5000: None,
    formatdate(NOW + 7200, usegmt=True): 7200,
    formatdate(NOW + 90 * DAY, usegmt=True): DAY,
    formatdate(NOW - DAY, usegmt=True): None,
    "soon": None,
    "": None,
}


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("asked", "wait"), B18.items(), ids=[str(place) for place in range(len(B18))])
def test_b18_a_busy_server_is_left_alone(server: FeedServer, status: int, asked: str, wait: int | None) -> None:
    server.script("a.xml", Answer(status, {"Retry-After": asked}))
    server.put("b.xml", rss(entry(2)))
    server.put("a.xml", rss(entry(1)))
    look = feed(server, "a.xml", "b.xml")
    first = look()
    source = look.cursor.sources[server.url("a.xml")]
    back_off = int(1800 * 1.05)
    assert source.not_before == NOW + (wait or back_off)
    assert source.paused == ""
    assert first.urgent
    assert look.titles == ["Note 2"], "the other feed of the same host goes on"
    look(source.not_before - 1)
    assert (server.count("a.xml"), server.count("b.xml")) == (1, 2)
    last = look(source.not_before)
    assert server.count("a.xml") == 2
    assert last.urgent, "the end of the trouble is written too"
    assert "answers again" in last.notes[0]
    assert sorted(look.titles) == ["Note 1", "Note 2"]


def test_b19_a_dripping_server_ends_at_the_deadline(server: FeedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hz_team.watches.feed.EACH", 1.0)
    server.script("slow.xml", Answer(200, XML, rss(entry(1)).encode(), drip=0.3))
    server.put("b.xml", rss(entry(2)))
    look = feed(server, "slow.xml", "b.xml")
    started = time.monotonic()
    polled = look()
    assert 0.9 < time.monotonic() - started < 3
    assert "was not done after 1 s" in polled.notes[0]
    assert look.titles == ["Note 2"]


def test_b19_addresses_that_were_not_reached_stay_due(server: FeedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hz_team.watches.feed.ALL", 1.5)
    server.script("slow.xml", Answer(200, XML, rss(entry(1)).encode(), delay=1.0))
    server.put("b.xml", rss(entry(2)))
    look = feed(server, "slow.xml", "b.xml")
    look()
    assert server.count("b.xml") == 0
    assert look.cursor.polled_at + look.watch.every <= NOW + 1
    look(NOW + 60)
    assert sorted(look.titles) == ["Note 1", "Note 2"]
    assert look.cursor.polled_at == NOW + 60


ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><id>urn:x</id><entry><id>urn:1</id>{}</entry></feed>'
B21 = {
    "escaped tags in RSS": (rss("<title>&lt;a> as &lt;area&gt;</title>"), "<a> as <area>"),
    "escaped tags in CDATA": (rss("<title><![CDATA[<a> as <area>]]></title>"), "<a> as <area>"),
    "twice escaped": (rss("<title>The &amp;lt;b&amp;gt; tag</title>"), "The <b> tag"),
    "real markup": (
        rss("<title>&lt;b&gt;Bold&lt;/b&gt; &amp;amp; &lt;i class='x'&gt;loud&lt;/i&gt;</title>"),
        "Bold & loud",
    ),
    "a script's name": (rss("<title>When &lt;script&gt; beats &lt;style&gt;</title>"), "When <script> beats <style>"),
    "less than": (rss("<title>if a &lt;b and c&gt; d</title>"), "if a <b and c> d"),
    "types": (
        rss("<title>Why List&lt;String&gt; is not List&lt;Object&gt;</title>"),
        "Why List<String> is not List<Object>",
    ),
    "Atom html heart": (ATOM.format('<title type="html">&lt;3 Deno</title>'), "<3 Deno"),
    "Atom html escaped heart": (ATOM.format('<title type="html">&amp;lt;3 Deno</title>'), "<3 Deno"),
    "Atom html twice escaped": (
        ATOM.format('<title type="html">&amp;lt;b&amp;gt; &lt;em&gt;x&lt;/em&gt;</title>'),
        "<b> x",
    ),
    "Atom html lone tags": (ATOM.format('<title type="html">&lt;a&gt; as &lt;area&gt;</title>'), "<a> as <area>"),
    "Atom text": (ATOM.format("<title>&lt;b&gt; &amp;amp; you</title>"), "<b> &amp; you"),
    "Atom xhtml": (
        ATOM.format('<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">A <b>b</b> &lt;c&gt;</div></title>'),
        "A b <c>",
    ),
    "decomposed": (rss("<title>Cafe\u0301</title>"), "Caf\u00e9"),
    "blanks and controls": (rss("<title>\n  Two\t words\u0085 \n</title>"), "Two words"),
}


@pytest.mark.parametrize(("document", "title"), B21.values(), ids=B21)
def test_b21_titles_keep_their_words(server: FeedServer, document: str, title: str) -> None:
    server.put("feed.xml", document)
    look = feed(server)
    look()
    assert look.titles == [title]


def test_b21_summaries_are_words(server: FeedServer) -> None:
    html = "<p>One<br>two</p><script>alert(1)</script><!-- no --><ul><li>three &amp;lt;four&amp;gt;</li></ul> <img src=x onerror=y> List<T>"
    server.put("feed.xml", rss(f"<title>T</title><description><![CDATA[{html}]]></description>"))
    look = feed(server)
    look()
    assert look.items[0]["summary"] == "One two three &lt;four&gt; List<T>"


@pytest.mark.parametrize(
    ("item", "link"),
    [
        ("<guid>note-17</guid>", None),
        ("<guid>javascript:alert(1)</guid>", None),
        ("<guid>https://notes.example/17</guid>", "https://notes.example/17"),
        ("<guid isPermaLink='false'>https://notes.example/17</guid>", None),
        ("<guid>17</guid><link>javascript:alert(1)</link>", None),
        ("<guid>17</guid><link>data:text/html,x</link>", None),
        ("<guid>17</guid><link>/17</link>", "{base}17"),
        ("<guid>17</guid><link></link>", None),
        ("<link>HTTPS://notes.example/17 </link>", "https://notes.example/17"),
    ],
)
def test_p4_a_link_is_a_web_address(server: FeedServer, item: str, link: str | None) -> None:
    server.put("feed.xml", rss(f"<title>T</title>{item}"))
    look = feed(server)
    look()
    assert look.items[0].get("link") == (link.format(base=server.url()) if link else None)
