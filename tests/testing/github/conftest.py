"""A double with one repository and one person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hz_team.testing.github import GitHub
from tests.testing.github.asking import NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hz_team.testing.github import Person, Repository


@pytest.fixture
def github() -> Iterator[GitHub]:
    with GitHub() as github:
        yield github


@pytest.fixture
def repo(github: GitHub) -> Repository:
    return github.repository(NAME)


@pytest.fixture
def mona(github: GitHub, repo: Repository) -> Person:
    return github.person("mona", "write", repo=NAME)
