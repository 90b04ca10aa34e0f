"""The way to GitHub, where the state lives there: one API client, the forge on it, and what it knows of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.adapters.github.api import GitHubApi
    from hz_team.adapters.github.forge import GitHubForge
    from hz_team.adapters.github.runs import Runs
    from hz_team.ports import Http


class Gateway(NamedTuple):
    """Everything of GitHub that a tick uses."""

    api: GitHubApi
    forge: GitHubForge
    runs: Runs


def opened(url: str, repository: str, http: Http, environ: Mapping[str, str]) -> Gateway | None:
    """Return the way to the GitHub behind a state's URL; None for a state that lives elsewhere. Nothing is asked yet.

    Raises UsageError where no token lets us in.
    """
    from hz_team.adapters import remote

    if "/" not in repository or not remote.name_of(url, environ):
        return None
    from hz_team.adapters.credential import token_for
    from hz_team.adapters.github.address import address_of
    from hz_team.adapters.github.api import GitHubApi
    from hz_team.adapters.github.forge import GitHubForge
    from hz_team.adapters.github.hand import Hand
    from hz_team.adapters.github.issues import Issues
    from hz_team.adapters.github.outcomes import Outcomes
    from hz_team.adapters.github.people import People
    from hz_team.adapters.github.runs import Runs

    address = address_of(environ)
    token = token_for(f"{address.server}/{repository}", environ)
    if not token:
        raise UsageError(
            f"{address.server} asks who we are, and there is no token: set GITHUB_TOKEN (`gh auth token` prints one); "
            "without GitHub, keep the state in a folder: `--remote /path/to/state.git`"
        )
    api = GitHubApi(http, address, token, repository)
    hand = Hand(address, token, repository)
    web = f"{address.server}/{repository}"
    forge = GitHubForge(repository, Issues(api, hand, web), Outcomes(api, hand, address), People(api))
    return Gateway(api, forge, Runs(api))
