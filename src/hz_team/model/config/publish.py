"""`publish:` and `approve:`, where a draft may go and who lets it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from hz_team.model.config.value import (
    Amount,
    Approvers,
    Duration,
    Flag,
    Free,
    Misfit,
    Names,
    Repository,
    Shape,
    Span,
    Word,
    added,
)
from hz_team.model.written import is_null, natural

LATER = ("release", "label", "discussion")
"""Accepted, not run yet."""


class Ceiling(Shape):
    """What a job fixes for every kind; what it leaves open a draft may fill."""

    title: Word | None = None
    """May be a template: `Digest, week {{ slot.week }}`."""
    target: Word | None = None
    """Where it goes, in the words of the kind."""


class Labelled(Ceiling):
    """A kind with labels."""

    labels: Names = ()
    """Put on in any case."""
    allow: Names = ()
    """Further labels that a draft may choose."""


class Issue(Labelled):
    """A new issue."""

    repository: Repository | None = None
    """owner/name; default: here."""


class Comment(Ceiling):
    """A comment on an issue or pull request."""

    each: Word | None = None
    """`issue`: one part for every draft, one decision for all."""
    issue: Word | None = None
    """Its number."""


class PullRequest(Labelled):
    """A pull request."""

    paths: Names = ()
    """Files it may change, `**` through folders."""
    branch: Word | None = None
    """May be a template."""
    base: Word | None = None
    """The branch it goes to; default: main."""


class PublishFile(Ceiling):
    """A file."""

    path: Word | None = None
    paths: Names = ()
    """Files it may be."""


class Webhook(Ceiling):
    """A POST to a host that hz.yaml allows."""

    url: Word | None = None


class Release(Ceiling):
    """A release. Accepted, not run yet."""

    tag: Word | None = None
    prerelease: Flag = False


class Label(Labelled):
    """Labels for an issue or pull request. Accepted, not run yet."""

    each: Word | None = None
    issue: Word | None = None


class Discussion(Labelled):
    """A discussion. Accepted, not run yet."""

    category: Word | None = None


def _open(value: Any) -> Any:
    """Take nothing for a kind that fixes nothing."""
    return {} if is_null(value) else value


_OPEN = BeforeValidator(_open)


class Publish(Shape):
    """Kinds that a job may publish, and what it fixes for each."""

    issue: Annotated[Issue | None, _OPEN] = None
    comment: Annotated[Comment | None, _OPEN] = None
    pull_request: Annotated[PullRequest | None, _OPEN] = None
    file: Annotated[PublishFile | None, _OPEN] = None
    webhook: Annotated[Webhook | None, _OPEN] = None
    release: Annotated[Release | None, _OPEN] = None
    label: Annotated[Label | None, _OPEN] = None
    discussion: Annotated[Discussion | None, _OPEN] = None

    more: dict[str, dict[str, Free]] = Field(default_factory=dict, exclude=True, json_schema_extra={"readOnly": True})
    """Kinds that installed packages add."""

    def ceilings(self) -> dict[str, dict[str, Any]]:
        """Return kind → what was written for it, as JSON values."""
        ours = self.model_dump(mode="json", include=self.model_fields_set, exclude_unset=True, exclude_none=True)
        return {**ours, **natural(self.more)}


KINDS = tuple(name for name in Publish.model_fields if name != "more")


def published(value: Any) -> Any:
    """Take a kind, or a list of kinds, that fix nothing."""
    if isinstance(value, str) and not is_null(value):
        value = {str(value): {}}
    if isinstance(value, list | tuple):
        value = {str(kind): {} for kind in value}
    if isinstance(value, dict) and "more" in value:
        raise Misfit("`more` is no publisher; write the kinds themselves")
    unknown = {kind for kind in value if kind not in KINDS} if isinstance(value, dict) else set()
    more = unknown & added("publishers") if unknown else set()
    if not more:
        return value
    ours = {kind: fixed for kind, fixed in value.items() if kind not in more}
    return {**ours, "more": {kind: _open(value[kind]) for kind in more}}


Publishes = Annotated[Publish, BeforeValidator(published, json_schema_input_type=str | list[str] | Publish)]


class Approve(Shape):
    """Who may say yes, and how many must."""

    by: Approvers = ("write",)
    """`write`, `role:write|maintain|admin`, logins, `org/team`."""
    need: Amount = Field(default=1)
    """How many must say yes; `quorum` is the same."""
    not_: Literal["author"] | None = Field(default=None, alias="not")
    """author: whoever poked or edited the draft may not approve it."""
    from_: Literal["page", "dashboard"] = Field(default="dashboard", alias="from")
    """page: only where the whole draft is shown."""
    expires: Span = 14 * 86400
    """Without an answer the proposal lapses after this."""
    hold: Duration = 0
    """Time to change one's mind. Accepted, not run yet."""

    @model_validator(mode="after")
    def _can_be_met(self) -> Approve:
        logins = [one for one in self.by if one != "write" and ":" not in one and "/" not in one]
        if len(logins) == len(self.by) and self.need > len(set(logins)):
            raise Misfit(f"`need: {self.need}` can never be met by {', '.join(logins)} alone; lower it, or add people")
        return self


def approve(value: Any) -> Any:
    """Take a word or a list for `by`, and `quorum` for `need`."""
    if not isinstance(value, dict):
        return {"by": value}
    if "quorum" in value and "need" in value:
        raise Misfit("`need` and `quorum` are the same; keep one")
    return {("need" if key == "quorum" else key): item for key, item in value.items()}


class ApproveText(Approve):
    """As files may write it."""

    quorum: Amount | None = None
    """The same as `need`."""


Approval = Annotated[Approve, BeforeValidator(approve, json_schema_input_type=str | list[str] | ApproveText)]
