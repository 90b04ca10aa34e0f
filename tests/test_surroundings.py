"""The page about the environment of a step says what there is."""

from __future__ import annotations

from pathlib import Path

from hz_team.surroundings import page, search_path

PAGE = Path(__file__).parents[1] / "docs" / "step-environment.md"


def test_the_page_is_the_one_that_is_written() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "write docs/step-environment.md anew from hz_team.surroundings.page()"
    )


def test_tools_set_up_before_the_tick_are_found_and_nobodys_home_is_not() -> None:
    path = search_path("/first", "/home/me/bin:/snap/tool/bin:/usr/lib/x/bin:relative").split(":")
    assert path[0] == "/first"
    assert "/snap/tool/bin" in path
    assert "/usr/lib/x/bin" in path
    assert not {"/home/me/bin", "relative"} & set(path)
