"""The feed watch beyond the field cases: real documents, laziness, bounds, floods and hostile input."""

from __future__ import annotations

import os
import subprocess
import sys
from email.utils import formatdate
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hz_team import snapshot
from hz_team.model.facet import Source
from hz_team.ports import HttpError, Request, Response
from hz_team.testing.feedserver import Answer, FeedServer
from tests.watches.looking import NOW, Look, entry, rss

if TYPE_CHECKING:
    from collections.abc import Iterator

HOUR, DAY = 3600, 86400
HERE = Path(__file__).resolve().parent.parent
OURS = HERE / "data" / "feeds"
REAL = HERE.parent.parent / "shared" / "data" / "feeds"
OUR_TITLES = {
    "english-json-feed.json": ["Leaves <everywhere>, and no title.", "Café chairs & first frost"],
    "french-undeclared-latin-1.xml": ["Crème brûlée à volonté", "Où sont les œufs ?"],
    "german-rdf-utf-8.xml": ["Dachboden geräumt", "Türöffner für Füchse"],
    "greek-atom-utf-16.xml": ["Η ελιά άνθισε"],  # noqa: RUF001  (Greek)
    "japanese-shift-jis.xml": ["柿の実が色づいた"],
    "russian-windows-1251.xml": ["Ёжик нашёл яблоко", "«Тихий» дождь — 12 мм"],
    "urdu-rss-utf-8.xml": ["آم کے درخت میں پھول آ گئے"],
}
REAL_TITLES = {
    "atom_mediarss_reddit_1.xml": (
        25,
        ["Any reason to keep 1G connections to my servers?", "Cleaned up the Lack Rack"],
    ),
    "atom_scattered.xml": (
        1,
        ["0042: consulting lessons, there are no strings on me, buttondown, focus goof, jsfuck, 1ml"],
    ),
    "encoding_WINDOWS-1251.xml": (50, ["Цитата #17703", "Цитата #17220"]),
    "large_atom.xml": (25, ['A silly "smart" contract bug', "Musings on CVE-2023-6246 on hardened_malloc"]),
    "large_rss.xml": (25, ["Using vale with vim", "A sneaky Golang bug"]),
    "no_encoding_ISO-8859-1.xml": (
        9,  # the tenth has neither title nor link nor words
        [
            "Psychologue à domicile : de la clinique à l'état brut",
            "Caroline Eliacheff : « Dolto reste authentiquement subversive »",
            "La criminalité liée surtout à... l'ennui ?",
        ],
    ),
    "rdf_UTF8.xml": (60, ["OLED-TVs: Vorsichtsmaßnahmen gegen Einbrennen", "Mega-Deal: IBM übernimmt Red Hat"]),
    "rss_0.91_missing_id.xml": (
        1,
        ["Oferta de Empleo Público // 3 PROFESOR/A TÉCNICO/A (INGENIE. TÉC. FORESTAL) 17/17"],
    ),
    "rss_1.0_debian.xml": (1, ["Updated Debian 11: 11.6 released"]),
    "rss_2.0_bbc.xml": (1, ["Marcus Aurelius"]),
    "rss_2.0_cloudflare.xml": (1, ["Privacy-Preserving Compromised Credential Checking"]),
    "rss_2.0_ghost_1.xml": (1, ["Example"]),
    "small_atom.xml": (20, ["Parse podcast categories", "Bump golang.org/x/oauth2 from 0.17.0 to 0.18.0"]),
    "urdu_UTF8.xml": (
        26,
        ["وہ تازیانے لگے ہوش سب ٹھکانے لگے", "امریکہ سے امداد کے نہیں اعتماد کے خواہاں ہیں: جنرل باجوہ"],
    ),
}
real = pytest.mark.skipif(not REAL.is_dir(), reason=f"NOT RUN: the real feeds are not there ({REAL}); the twin ran")


@pytest.fixture
def server() -> Iterator[FeedServer]:
    with FeedServer() as running:
        yield running


def look_at(server: FeedServer, *names: str, **spec: object) -> Look:
    return Look("feed", {"urls": [server.url(name) for name in names or ("feed.xml",)], **spec})


@pytest.mark.parametrize(("name", "titles"), OUR_TITLES.items())
def test_titles_in_every_encoding(name: str, titles: list[str]) -> None:
    with FeedServer(OURS) as server:
        look = look_at(server, name)
        look()
        assert look.titles == titles
        assert look.notes == () or "french" in name


@real
@pytest.mark.parametrize(("name", "count", "titles"), [(name, *told) for name, told in REAL_TITLES.items()])
def test_real_titles_in_every_encoding(name: str, count: int, titles: list[str]) -> None:
    with FeedServer(REAL) as server:
        look = look_at(server, name)
        assert look().added == count
        assert set(titles) <= set(look.titles)
        assert not [title for title in look.titles if "\ufffd" in title or "Ã" in title or "Ð" in title]


@pytest.mark.parametrize("folder", [OURS, pytest.param(REAL, marks=real)], ids=["ours", "real"])
def test_a_team_that_reads_them_all(folder: Path) -> None:
    names = sorted(os.listdir(folder))
    with FeedServer(folder) as server:
        look = look_at(server, *names)
        first = look()
        assert first.added == len(look.items) == len({item["id"] for item in look.items})
        loads = look.loads
        second = look(NOW + HOUR)
        assert (second.items, second.requests, second.unchanged, second.notes) == (None, len(names), len(names), ())
        assert server.count(status=304) == len(names)
        assert look.loads == loads
        for hour, name in enumerate(names):
            base = look.items
            server.add_item(name, f"Nº {hour} & more", link=f"https://new.example/{hour}", published=NOW + hour)
            third = look(NOW + (2 + hour) * HOUR)
            assert (third.added, third.unchanged) == (1, len(names) - 1)
            facets = look.since(base)
            assert [item["title"] for item in facets.added] == [f"Nº {hour} & more"], name
            assert (facets.changed, facets.removed) == ((), ())


IDLE = """
import sys
start = set(sys.modules)
from hz_team.model.facet import Source
from tests.watches.looking import NOW, Look
url, tag = sys.argv[1:]
look = Look("feed", {"urls": [url]})
look.cursor = look.cursor._replace(snapshot="0" * 64, sources={url: Source({"etag": tag})})
before = set(sys.modules)
assert look(NOW).unchanged == 1
print(*(name for name in set(sys.modules) - before if name.startswith("hz_team")))
print(*({name.partition(".")[0] for name in set(sys.modules) - start} & {"feedparser", "rfc8785", "html", "xml", "pydantic"}))
"""


def test_an_idle_poll_loads_no_parser(server: FeedServer) -> None:
    server.put("feed.xml", rss(entry(1)))
    root = HERE.parent
    done = subprocess.run(
        [sys.executable, "-c", IDLE, server.url("feed.xml"), server.etag("feed.xml")],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{root / 'src'}:{root}"},
    )
    assert done.stdout == "\n\n"


def test_an_item_and_its_fields(server: FeedServer) -> None:
    item = (
        "<guid isPermaLink='false'>n-7</guid><title>Seven</title><link>https://notes.example/7</link>"
        "<pubDate>Mon, 05 Oct 2026 10:00:00 +0200</pubDate><author>ann@notes.example (Ann)</author>"
        "<description>Word. &lt;img src='x.png' onerror='y'&gt;</description><comments>https://notes.example/7#c</comments>"
        "<slash:comments xmlns:slash='http://purl.org/rss/1.0/modules/slash/'>12</slash:comments>"
        "<enclosure url='https://notes.example/7.mp3' length='12345' type='audio/mpeg'/>"
    )
    server.put("feed.xml", rss(item))
    look = look_at(server)
    look()
    assert look.items == (
        {
            "author": "ann@notes.example (Ann)",
            "id": "notes.example#n-7",
            "link": "https://notes.example/7",
            "published": "2026-10-05T08:00:00Z",
            "source": "Notes",
            "summary": "Word.",
            "title": "Seven",
            "url": server.url("feed.xml"),
        },
    )
    server.put("feed.xml", rss(item.replace(">12<", ">99<").replace("12345", "54321")))
    assert look(NOW + HOUR).items is None, "counts and sizes are not looked at"


def test_changed_is_not_added(server: FeedServer) -> None:
    server.put("feed.xml", rss(entry(1), entry(2)))
    look = look_at(server)
    look()
    base = look.items
    server.put("feed.xml", rss(entry(1, title="Note 1, mended"), entry(2)))
    polled = look(NOW + HOUR)
    facets = look.since(base)
    assert polled.added == 0
    assert ([item["title"] for item in facets.changed], facets.added) == (["Note 1, mended"], ())


def test_the_snapshot_accumulates(server: FeedServer) -> None:
    look = look_at(server)
    for number in range(5):
        server.put("feed.xml", rss(entry(number, date=formatdate(NOW + number))))
        look(NOW + number * HOUR)
    assert look.titles == ["Note 4", "Note 3", "Note 2", "Note 1", "Note 0"]
    server.put("feed.xml", rss(entry(0), entry(3)))
    assert look(NOW + 6 * HOUR).items is None, "what comes back was there all along"


def test_the_same_body_is_unchanged_without_validators(server: FeedServer) -> None:
    server.script("feed.xml", *[Answer(200, {}, rss(entry(1)).encode())] * 2)
    look = look_at(server)
    look()
    loads = look.loads
    assert look(NOW + HOUR).unchanged == 1
    assert look.loads == loads


def test_a_first_look_at_an_empty_feed_is_a_snapshot(server: FeedServer) -> None:
    server.put("feed.xml", rss())
    look = look_at(server)
    assert look().items == ()
    server.put("feed.xml", rss() + " ")
    assert look(NOW + HOUR).items is None


def numbered(numbers: range) -> str:
    return rss(*(entry(number, date=formatdate(NOW - 10 * DAY + number)) for number in reversed(numbers)))


def test_a_flood_is_dammed_and_does_not_come_back(server: FeedServer) -> None:
    server.put("feed.xml", numbered(range(5)))
    look = look_at(server)
    look()
    server.put("feed.xml", numbered(range(206)))
    polled = look(NOW + HOUR)
    assert polled.added == 50
    assert polled.notes == (
        f"learning: {server.url('feed.xml')} brought 201 new items at once; the newest 50 were taken",
    )
    assert look.titles[:2] + look.titles[49:51] == ["Note 205", "Note 204", "Note 156", "Note 4"]
    server.put("feed.xml", numbered(range(207)))
    assert look(NOW + 2 * HOUR).added == 1


def test_two_hundred_are_no_flood_and_a_first_look_never_is(server: FeedServer) -> None:
    server.put("feed.xml", numbered(range(300)))
    look = look_at(server)
    assert look().added == 300
    server.put("feed.xml", numbered(range(300, 500)))
    assert look(NOW + HOUR).added == 200
    assert len(look.items) == 500


def test_what_does_not_fit_is_remembered(server: FeedServer) -> None:
    server.put("feed.xml", numbered(range(700)))
    look = look_at(server)
    assert look().added == 500
    assert len(look.cursor.seen) == 200
    base = look.items
    server.put("feed.xml", numbered(range(701)))
    assert look(NOW + HOUR).added == 1
    assert (len(look.items), len(look.cursor.seen)) == (500, 201)
    assert look.since(base).removed == ()


def test_a_snapshot_is_at_most_a_megabyte(server: FeedServer) -> None:
    wide = (
        f"<guid>https://notes.example/{n}/{'x' * 250}</guid><title>{'ü' * 300}</title><description>{'€' * 600}</description>"
        for n in range(500)
    )
    server.put("feed.xml", rss(*wide))
    look = look_at(server)
    look()
    assert 900_000 < len(snapshot.document(look.items)) <= 1_000_000
    assert len(look.items) + len(look.cursor.seen) == 500


def test_newest_and_ignore(server: FeedServer) -> None:
    server.put("feed.xml", numbered(range(30)))
    look = look_at(server, newest=3, ignore=["link", "source", "published", "id"])
    look()
    assert look.titles == ["Note 29", "Note 28", "Note 27"]
    assert set(look.items[0]) == {"id", "title", "url", "published"}


def test_one_post_in_two_feeds_is_one_item(server: FeedServer) -> None:
    server.put("a.xml", rss(entry(1), title="A"))
    server.put("b.xml", rss(entry(1, title="Note 1 in other words"), title="B"))
    look = look_at(server, "a.xml", "b.xml")
    look()
    assert [(item["title"], item["source"]) for item in look.items] == [("Note 1", "A")]
    server.put("b.xml", rss(entry(1, title="and others again"), title="B"))
    assert look(NOW + HOUR).items is None


def test_numbers_as_guids_do_not_meet(server: FeedServer) -> None:
    server.put("a.xml", rss("<guid>1</guid><title>A</title>", link="https://a.example/"))
    server.put("b.xml", rss("<guid>1</guid><title>B</title>", link="https://b.example/"))
    look = look_at(server, "a.xml", "b.xml")
    look()
    assert look.titles == ["A", "B"]


def test_back_off_grows_to_its_ceiling_and_ends(server: FeedServer) -> None:
    server.put("feed.xml", rss(entry(1)))
    server.script("feed.xml", *[Answer(500)] * 8)
    look, now, waits, urgent = look_at(server), NOW, [], []
    source = Source()
    for _ in range(8):
        urgent.append(look(now).urgent)
        source = look.cursor.sources[server.url("feed.xml")]
        waits.append(source.not_before - now)
        now = source.not_before
    assert waits == [1890, 3780, 7560, 15120, 22680, 22680, 22680, 22680], "half of every, doubled, 6 h, and jitter"
    assert urgent == [True, True, True, True, True, True, True, True]
    assert (source.failures, source.failing_since) == (8, NOW)
    assert source.error == f"{server.url('feed.xml')} answered 500"
    assert look(now).urgent
    assert look.cursor.sources[server.url("feed.xml")].failures == 0
    assert look.titles == ["Note 1"]


def test_only_the_first_short_failure_is_urgent(server: FeedServer) -> None:
    server.script("feed.xml", Answer(500), forever=True)
    look = Look("feed", {"url": server.url("feed.xml")}, every=600)
    assert [look(NOW + hour * HOUR).urgent for hour in range(3)] == [True, False, False]


class Unplugged:
    """A machine without network, but for some addresses."""

    def __init__(self, *works: str) -> None:
        self.works = works

    def send(self, request: Request) -> Response:
        if request.url in self.works:
            return Response(200, {}, rss(entry(1)).encode(), request.url)
        raise HttpError("offline", "the name a.example cannot be looked up")


def test_offline_is_one_note_and_no_failure() -> None:
    urls = ["https://a.example/1", "https://a.example/2"]
    look = Look("feed", {"urls": urls}, http=Unplugged())
    before = look.cursor
    polled = look()
    assert (len(polled.notes), polled.urgent, look.cursor) == (1, False, before), "still due"
    look = Look("feed", {"urls": urls}, http=Unplugged(urls[1]))
    polled = look()
    assert polled.urgent, "if one can be reached, the other has failed"
    assert look.cursor.sources[urls[0]].failures == 1
    assert look.titles == ["Note 1"]


HOSTILE = {
    "no bytes": b"",
    "blanks": b" \n ",
    "an image": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "words": b"hello",
    "a file's name": b"/etc/passwd",
    "an address": b"http://127.0.0.1:9/feed.xml",
    "a page": b"<html><body><p>hello",
    "broken JSON": b'{"version": "https://jsonfeed.org/version/1", "items": [',
    "other JSON": b'{"items": []}',
    "deep JSON": b'{"items":' + b"[" * 100_000,
    "deep XML": b"<rss><channel><item><title>x</title></item></channel>" + b"<a>" * 200_000,
    "an XML bomb": b'<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(12))
    + b"]><r>&m;</r>",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_feed_is_a_failure(server: FeedServer, body: bytes) -> None:
    server.script("feed.xml", Answer(200, {"ETag": '"x"'}, body))
    look = look_at(server)
    polled = look()
    assert polled.items is None
    assert look.cursor.sources[server.url("feed.xml")].failures == 1
    assert look.cursor.sources[server.url("feed.xml")].validators == {}
    assert " is no feed but " in polled.notes[0]


def test_entities_open_no_file(server: FeedServer, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("sesame")
    server.put(
        "feed.xml",
        f'<!DOCTYPE rss [<!ENTITY x SYSTEM "file://{secret}">]>' + rss("<title>T &x;</title>").partition("?>")[2],
    )
    look = look_at(server)
    look()
    assert "sesame" not in str(look.items) + str(look.notes)


def test_surrogates_and_odd_ids_in_json(server: FeedServer) -> None:
    items = r'[{"id": 1.5, "title": "a\ud800b"}, {"id": true, "title": "c"}, {"id": 7, "title": 8}, "x", {"id": {}, "url": []}]'
    server.put("feed.json", f'{{"version": "https://jsonfeed.org/version/1", "items": {items}}}')
    look = look_at(server, "feed.json")
    look()
    assert look.titles == ["ab", "c", "8"]


def test_a_key_in_an_address_stays_out_of_notes(server: FeedServer) -> None:
    look = Look("feed", {"url": server.url("feed.xml?key=sesame")})
    assert "sesame" not in look().notes[0]
