"""The routes of the REST API, a file a group; importing this package fills the table."""

from hz_team.testing.github.routes import (
    comments,
    contents,
    git_data,
    house,
    issues,
    labels,
    people,
    pulls,
    releases,
    runs,
)

__all__ = ["comments", "contents", "git_data", "house", "issues", "labels", "people", "pulls", "releases", "runs"]
