"""One request as the routes see it, their table, and how they answer or refuse."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote, urlencode

from hz_team.testing.github import access
from hz_team.testing.github.deed import Actor
from hz_team.testing.github.shape import iso

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from hz_team.testing.github.access import Need, Token
    from hz_team.testing.github.noun import Account
    from hz_team.testing.github.shape import Site
    from hz_team.testing.github.store import Repository, Store

DOCUMENTATION = "https://docs.github.com/rest"
_Thing = TypeVar("_Thing")


class Answer(NamedTuple):
    """What a route says; None as data is an empty body."""

    status: int = 200
    data: Any = None
    headers: Mapping[str, str] = {}
    modified: int = 0
    """For Last-Modified; 0: it has none."""


class Refused(Exception):
    """The request is not granted; what GitHub says about it."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        errors: Sequence[Mapping[str, Any]] = (),
        headers: Mapping[str, str] = {},
        extra: Mapping[str, Any] = {},
    ) -> None:
        """`extra`: further keys of the document."""
        super().__init__(message)
        self.status = status
        self.headers = headers
        self.document: dict[str, Any] = {
            "message": message,
            **({"errors": list(errors)} if errors else {}),
            "documentation_url": DOCUMENTATION,
            "status": str(status),
            **extra,
        }

    @property
    def answer(self) -> Answer:
        """As a route would say it."""
        return Answer(self.status, self.document, self.headers)


class Call:
    """One request to a route."""

    def __init__(
        self,
        store: Store,
        site: Site,
        *,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Any,
        token: Token | None,
        rate: Callable[[Token | None, str], dict[str, int]],
        accept: str = "",
        horizon: int = 0,
    ) -> None:
        """`horizon`: lists do not show what was made after that serial; 0: they show everything."""
        self.store, self.site = store, site
        self.method, self.path, self.query, self.body = method, path, query, body
        self.token, self.rate, self.accept, self.horizon = token, rate, accept, horizon
        self.args: dict[str, str] = {}

    @property
    def repo(self) -> Repository:
        """The repository of the path. Raises Refused: 404 where the token does not see one."""
        found = self.store.repositories.get(f"{self.args['owner']}/{self.args['repo']}".lower())
        if found is None or not access.sees(self.token, found):
            raise missing()
        return found

    @property
    def actor(self) -> Account:
        """Who asks. Raises Refused: 401 for nobody."""
        if self.token is None:
            raise Refused(401, "Requires authentication")
        return self.token.account

    @property
    def actor_here(self) -> Actor:
        """Who asks, at work in the repository of the path."""
        return self.actor_in(self.repo)

    def actor_in(self, repository: Repository) -> Actor:
        """Return who asks, at work in a repository: deeds of an Actions token cause no events."""
        quiet = self.token is not None and self.token.kind == "actions"
        return Actor(self.store, self.site, repository, self.actor, quiet)

    @property
    def pushes(self) -> bool:
        """Whether who asks has push access to the repository."""
        return access.pushes(self.token, self.repo)

    def number(self, name: str) -> int:
        """Return a number of the path. Raises Refused."""
        text = self.args[name]
        if not text.isdecimal():
            raise missing()
        return int(text)

    def words(self) -> dict[str, Any]:
        """Return the body as an object. Raises Refused."""
        if not isinstance(self.body, dict):
            raise Refused(400, "Body should be a JSON object")
        return self.body

    def text(self, name: str, *, resource: str, largest: int = 0) -> str:
        """Return a string of the body that must be there. Raises Refused: 422."""
        value = self.words().get(name)
        if not isinstance(value, str) or not value.strip():
            raise invalid(resource, name, "missing_field")
        if largest and len(value) > largest:
            raise invalid(resource, name, "custom", f"{name} is too long (maximum is {largest} characters)")
        return value

    def demand(self, need: Need) -> None:
        """Refuse what the token may not. Raises Refused: 401, 403 or 404."""
        if access.may(self.token, self.repo, need):
            return
        if self.token is None:
            raise Refused(401, "Requires authentication")
        raise forbidden(self.token.refusal, need)

    def shown(self, things: Iterable[_Thing]) -> list[_Thing]:
        """Return what a list shows: all of it unless lists lag."""
        return [one for one in things if not self.horizon or getattr(one, "id", 0) <= self.horizon]

    def page(self, items: Sequence[_Thing], show: Callable[[_Thing], Any], *, inside: str = "") -> Answer:
        """Return one page of a list, with links to the others; `inside`: the key of a list in an object."""
        size = min(max(_whole(self.query.get("per_page"), 30), 1), 100)
        page = max(_whole(self.query.get("page"), 1), 1)
        last = max((len(items) + size - 1) // size, 1)
        data: Any = [show(one) for one in items[(page - 1) * size : page * size]]
        if inside:
            data = {"total_count": len(items), inside: data}
        links = ", ".join(f'<{self._page(at)}>; rel="{rel}"' for rel, at in _relations(page, last))
        return Answer(200, data, {"Link": links} if links else {})

    def _page(self, at: int) -> str:
        place = self.path
        if "repo" in self.args:
            prefix = f"/repos/{self.args['owner']}/{self.args['repo']}"
            place = f"/repositories/{self.repo.id}{self.path[len(prefix) :]}"
        return f"{self.site.api}{place}?{urlencode({**self.query, 'page': at}, quote_via=quote)}"


class Route(NamedTuple):
    """One row of the table."""

    method: str
    template: str
    """As GitHub's description of its API writes it."""
    pattern: re.Pattern[str]
    need: Need | None
    handler: Callable[[Call], Answer]


ROUTES: list[Route] = []
_Handler = TypeVar("_Handler", bound="Callable[[Call], Answer]")


def route(method: str, template: str, permission: str = "") -> Callable[[_Handler], _Handler]:
    """Enter a function into the table; `permission`: what the token needs, such as `issues|pull_requests:write`."""

    def enter(handler: _Handler) -> _Handler:
        ROUTES.append(Route(method, template, _pattern(template), access.need(permission), handler))
        return handler

    return enter


def find(method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """Return the row for a request, and the variables in its path; of several the one with the fewest variables."""
    found = [(row, match) for row in ROUTES if row.method == method and (match := row.pattern.fullmatch(path))]
    if not found:
        return None
    row, match = min(found, key=lambda pair: len(pair[1].groups()))
    return row, {name: unquote(value) for name, value in match.groupdict().items()}


def missing(message: str = "Not Found") -> Refused:
    """Return what is said of a thing that is not there, or that the token may not see."""
    return Refused(404, message)


def forbidden(message: str, need: Need | None = None) -> Refused:
    """Return what is said of a thing that the token may not do."""
    return Refused(403, message, headers={"X-Accepted-GitHub-Permissions": need.header} if need else {})


def invalid(resource: str, field: str, code: str, message: str = "") -> Refused:
    """Return what is said of a body that cannot be taken."""
    error = {"resource": resource, "code": code, "field": field, **({"message": message} if message else {})}
    return Refused(422, "Validation Failed", errors=[error])


def since(call: Call, things: Iterable[_Thing]) -> list[_Thing]:
    """Return what was updated at or after the query's `since`."""
    bound = call.query.get("since", "")
    return [one for one in things if not bound or iso(getattr(one, "updated_at", 0)) >= bound]


def ordered(call: Call, things: Iterable[_Thing], *, sort: str, direction: str) -> list[_Thing]:
    """Return things in the query's order; `sort`, `direction`: where it says nothing."""
    key = call.query.get("sort", sort)
    names = {"updated": "updated_at", "comments": "comments"}
    attribute = names.get(key, "created_at")

    def rank(one: Any) -> tuple[int, int]:
        value = getattr(one, attribute)
        return (value if isinstance(value, int) else len(value), one.id)

    return sorted(things, key=rank, reverse=call.query.get("direction", direction) == "desc")


def _pattern(template: str) -> re.Pattern[str]:
    """`{path}` and `{ref}` take slashes."""
    parts = re.split(r"\{(\w+)\}", template)
    regex = "".join(
        re.escape(part) if at % 2 == 0 else f"(?P<{part}>{'.+' if part in ('path', 'ref') else '[^/]+'})"
        for at, part in enumerate(parts)
    )
    return re.compile(regex)


def _relations(page: int, last: int) -> Iterator[tuple[str, int]]:
    if page > 1:
        yield from (("prev", min(page - 1, last)), ("first", 1))
    if page < last:
        yield from (("next", page + 1), ("last", last))


def _whole(text: str | None, default: int) -> int:
    return int(text) if text and text.isdecimal() else default
