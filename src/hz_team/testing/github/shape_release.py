"""Releases as GitHub writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.testing.github import shape
from hz_team.testing.github.shape import iso, when

if TYPE_CHECKING:
    from hz_team.testing.github.noun import Release
    from hz_team.testing.github.shape import Site
    from hz_team.testing.github.store import Repository


def release(site: Site, repository: Repository, one: Release) -> dict[str, Any]:
    """Show a release."""
    url, page = f"{site.repository(repository)}/releases/{one.id}", site.page(repository)
    author = one.author
    return {
        "url": url,
        "assets_url": f"{url}/assets",
        "upload_url": f"{url}/assets{{?name,label}}",
        "html_url": f"{page}/releases/tag/{one.tag}",
        "id": one.id,
        "author": shape.somebody(site, author),
        "node_id": shape.node("RE", one.id),
        "tag_name": one.tag,
        "target_commitish": one.target,
        "name": one.name,
        "draft": one.draft,
        "immutable": False,
        "prerelease": one.prerelease,
        "created_at": iso(one.created_at),
        "updated_at": iso(one.updated_at),
        "published_at": when(one.published_at),
        "assets": [],
        "tarball_url": None if one.draft else f"{site.repository(repository)}/tarball/{one.tag}",
        "zipball_url": None if one.draft else f"{site.repository(repository)}/zipball/{one.tag}",
        "body": one.body,
    }
