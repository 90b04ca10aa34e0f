"""The shipped feed server: what it promises to those who test with it."""

from __future__ import annotations

import http.client
import time

import pytest

from hz_team.testing import Answer, FeedServer
from hz_team.testing.feed_document import with_item
from tests.watches.looking import Look, rss


def ask(server: FeedServer, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    try:
        link.request("GET", path, headers={name.replace("_", "-"): text for name, text in headers.items()})
        response = link.getresponse()
        return response.status, {name.lower(): text for name, text in response.getheaders()}, response.read()
    finally:
        link.close()


def test_documents_have_strong_tags() -> None:
    with FeedServer({"a.xml": "<a/>", "b.json": b"{}"}) as server:
        status, headers, body = ask(server, "/a.xml")
        assert (status, body, headers["content-type"]) == (200, b"<a/>", "application/xml")
        assert headers["etag"] == server.etag("a.xml")
        assert headers["last-modified"].endswith("GMT")
        assert ask(server, "/a.xml", If_None_Match=headers["etag"])[0] == 304
        for other in (f"W/{headers['etag']}", headers["etag"].strip('"'), "*", f"{headers['etag']}, x"):
            assert ask(server, "/a.xml", If_None_Match=other)[0] == 200, "byte for byte"
        assert ask(server, "/b.json")[1]["content-type"] == "application/feed+json"
        assert ask(server, "/c")[0] == 404
        server.put("a.xml", "<b/>")
        assert ask(server, "/a.xml", If_None_Match=headers["etag"])[2] == b"<b/>"
        server.remove("a.xml")
        assert ask(server, "/a.xml")[0] == 404
        assert (server.count(), server.count("a.xml"), server.count(status=304)) == (10, 8, 1)


def test_scripts_come_before_documents() -> None:
    with FeedServer({"a": "doc"}) as server:
        server.script("a", Answer(503, {"Retry-After": "7"}, b"busy"), Answer(200, {}, b"slow", delay=0.2, drip=0.05))
        assert ask(server, "/a")[0] == 503
        started = time.monotonic()
        assert ask(server, "/a")[2] == b"slow"
        assert time.monotonic() - started > 0.35
        assert ask(server, "/a?x=1")[2] == b"doc"
        server.script("a", Answer(410), forever=True)
        assert [ask(server, "/a")[0] for _ in range(5)] == [410] * 5


def is_up(server: FeedServer) -> bool:
    try:
        return ask(server, "/a")[0] > 0
    except (OSError, http.client.HTTPException):
        return False


def comes_down(server: FeedServer) -> bool:
    end = time.monotonic() + 5
    while is_up(server):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_it_stops_by_itself() -> None:
    with FeedServer({"a": "x"}, limit=2) as server:
        assert [ask(server, "/a")[0] for _ in range(2)] == [200, 200]
        assert comes_down(server)
    with FeedServer({"a": "x"}, lifetime=0.1) as server:
        assert comes_down(server)
    with FeedServer({"a": "x"}) as server:
        assert is_up(server)
    assert not is_up(server)


RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="x"><title>T</title></channel></rdf:RDF>'
SHAPES = {
    "rss.xml": rss("<title>Old</title>"),
    "empty-rss.xml": rss(),
    "rdf.xml": RDF,
    "atom.xml": '<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><id>urn:1</id><title>Old</title></entry></feed>',
    "empty-atom.xml": '<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title></feed>',
    "feed.json": '{"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": []}',
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_feed_gains_an_item(name: str) -> None:
    with FeedServer(SHAPES) as server:
        before = server.etag(name)
        server.add_item(
            name, "Ö & <3", link="https://a.example/?a=1&b=2", published=1_791_000_000, summary="Words & more"
        )
        assert server.etag(name) != before
        look = Look("feed", {"url": server.url(name)})
        look()
        new = next(item for item in look.items if item["title"] == "Ö & <3")
        assert new["link"] == "https://a.example/?a=1&b=2"
        assert new["published"] == "2026-10-03T04:00:00Z"
        assert new["summary"] == "Words & more"
        server.add_item(name, "Without a date", link="https://a.example/2")
        look()
        assert look.titles[0] == "Without a date" or "published" in look.items[0]


def test_the_rest_of_the_document_stays_as_it_is() -> None:
    old = rss("<title>Привет</title>").replace("utf-8", "windows-1251").encode("windows-1251")
    new = with_item(old, "Ещё €漢", link="https://a.example/")
    head, item, tail = new.partition(new[len(old.partition(b"<item>")[0]) :][: len(new) - len(old)])
    assert head + tail == old
    assert item.decode("windows-1251").startswith("<item><title>Ещё €&#28450;</title>")


def test_what_is_no_feed_gains_nothing() -> None:
    with pytest.raises(ValueError, match="no feed"):
        with_item(b"<html/>", "x", link="y")
