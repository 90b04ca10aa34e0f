"""`publish:` is a ceiling: what a draft may fill in, and what it may not. Pure.

A draft asks by its front matter or its Proposal(…). What `publish` says stands; what it leaves open may be filled;
anything else is a Refusal that names both. Texts of `publish` are rendered before they come here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from hz_team import markdown
from hz_team.model.draft import Draft, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE, LABEL, LABELS = 256, 50, 20
"""Characters of a title and of a label (GitHub's own limits), labels of a draft."""
SETTLED = frozenset(
    ("allow", "base", "branch", "each", "issue", "labels", "path", "paths", "repository", "target", "title", "url")
)
"""Keys of a ceiling that become the draft's own fields; any other goes to the publisher as it is."""
_NUMBER = re.compile(r"(?:([A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+))?#?([1-9][0-9]{0,9})")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")


class Asked(NamedTuple):
    """What one draft says about itself."""

    body: str = ""
    kind: str = ""
    title: str = ""
    target: str = ""
    labels: tuple[str, ...] = ()
    files: Mapping[str, Any] = {}
    """Path → text, {"base64": text} or None."""
    patch: str = ""
    """The difference of a checkout, for a pull request."""


class Home(NamedTuple):
    """What the ceiling is looked at from."""

    job: str
    name: str
    date: str
    repository: str = ""
    repositories: tuple[str, ...] = ()
    """Other repositories that `publish.repositories` of hz.yaml allows."""
    hosts: tuple[str, ...] = ()


class _OverError(Exception):
    """Asked for more; carried to `judge` and no further."""

    def __init__(self, asked: str, ceiling: str) -> None:
        super().__init__(asked)
        self.asked, self.ceiling = asked, ceiling


def judge(asked: Asked, publish: Mapping[str, Mapping[str, Any] | None], home: Home) -> Draft | Refusal:
    """Return the draft that may be proposed, or what it asked for and what forbids it."""
    try:
        kind = _kind(asked, publish)
        if not kind:
            return Draft("", "", _title(asked, {}), asked.body, _labels(asked, {}, ""), asked.files)
        return _filled(asked, kind, publish[kind] or {}, home)
    except _OverError as over:
        return Refusal(over.asked, over.ceiling, one_line(asked.title))


def matches(path: str, pattern: str) -> bool:
    """Whether a path fits a pattern: `*` within a folder, `**` through folders, `?` one character, `dir/` all below."""
    if pattern.endswith("/"):
        pattern += "**"
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    ways = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.fullmatch("".join(ways.get(part) or re.escape(part) for part in parts), path) is not None


def _kind(asked: Asked, publish: Mapping[str, Any]) -> str:
    if not publish:
        if asked.kind:
            raise _OverError(f"kind: {asked.kind}", "no kind at all: the job has none, so its drafts are kept")
        return ""
    if not asked.kind and len(publish) == 1:
        return next(iter(publish))
    if asked.kind in publish:
        return asked.kind
    raise _OverError(f"kind: {asked.kind}" if asked.kind else "no kind", f"one of these kinds: {', '.join(publish)}")


def _filled(asked: Asked, kind: str, spec: Mapping[str, Any], home: Home) -> Draft:
    fields = {name: value for name, value in spec.items() if name not in SETTLED}
    files = _files(asked, kind, spec)
    target = _target(asked, kind, spec, home)
    if kind == "pull_request":
        fields |= {"base": str(spec.get("base") or "main"), "branch": target, "patch": asked.patch}
        if not files or not asked.patch:
            raise _OverError("a pull request without a checkout", "the change that a step made `in: repo`")
    title = _title(asked, {} if spec.get("each") else spec)
    return Draft(
        kind, target, title or _untitled(asked, kind, home), asked.body, _labels(asked, spec, kind), files, fields
    )


def _untitled(asked: Asked, kind: str, home: Home) -> str:
    """Return a title for a draft without one: its first heading, else the job's name."""
    heading = re.search(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", asked.body, re.MULTILINE)
    if not heading or kind == "comment":
        return home.name
    return markdown.one_line(one_line(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", heading[1])))


def _title(asked: Asked, spec: Mapping[str, Any]) -> str:
    title, fixed = one_line(asked.title), one_line(str(spec.get("title") or ""))
    if fixed and title and title != fixed:
        raise _OverError(f"title: {title}", f"title: {fixed}")
    return fixed or title


def one_line(text: str) -> str:
    """Return a title: one line without control characters, not too long."""
    line = re.sub(r"\s+", " ", re.sub(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]", "", text)).strip()
    return line if len(line) <= TITLE else line[: TITLE - 1] + "…"


def _labels(asked: Asked, spec: Mapping[str, Any], kind: str) -> tuple[str, ...]:
    fixed, allow = _listed(spec.get("labels")), _listed(spec.get("allow"))
    wanted = [label.strip() for label in asked.labels if label.strip()]
    odd = [
        label for label in wanted if len(label) > LABEL or not label.isprintable() or label.lower().startswith("hz:")
    ]
    beyond = odd or ([label for label in wanted if label not in {*fixed, *allow}] if fixed or allow else [])
    if beyond:
        said = " and ".join(
            f"{name}: {', '.join(value)}" for name, value in (("labels", fixed), ("allow", allow)) if value
        )
        raise _OverError(
            f"labels: {', '.join(beyond)}",
            said if said and not odd else f"printable labels of {LABEL} characters that do not begin with hz:",
        )
    labels = tuple(dict.fromkeys((*fixed, *wanted)))
    if len(labels) > LABELS:
        raise _OverError(f"{len(labels)} labels", f"at most {LABELS}")
    if kind == "label" and not wanted:
        raise _OverError("no label", "`labels: [bug]`, or others that it allows")
    return labels


def _listed(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def _target(asked: Asked, kind: str, spec: Mapping[str, Any], home: Home) -> str:
    rule = {
        "comment": _numbered,
        "discussion": _repository,
        "file": _path,
        "issue": _repository,
        "label": _numbered,
        "pull_request": _branch,
        "release": _repository,
        "webhook": _address,
    }.get(kind, _added)
    return rule(asked.target.strip(), spec, home)


def _fixed(target: str, spec: Mapping[str, Any], name: str) -> str:
    """Return what `publish` says, "" if it leaves the target open."""
    said = str(spec.get(name) or spec.get("target") or "")
    if said and target and target != said:
        raise _OverError(f"target: {target}", f"{name}: {said}")
    return said


def _repository(target: str, spec: Mapping[str, Any], home: Home) -> str:
    fixed = str(spec.get("repository") or spec.get("target") or "")
    if fixed:
        target = _fixed(target, spec, "repository")
    if target in ("", "here") or (home.repository and target.lower() == home.repository.lower()):
        return "here"
    _may_reach(target, home, target)
    return target


def _added(target: str, spec: Mapping[str, Any], home: Home) -> str:
    """Return the target of a kind that a package adds: only the package knows what else than a repository it can be."""
    return _fixed(target, spec, "target") or _repository(target, spec, home)


def _may_reach(repository: str, home: Home, target: str) -> None:
    known = {name.lower() for name in (*home.repositories, home.repository) if name}
    if not _REPOSITORY.fullmatch(repository) or repository.lower() not in known:
        others = ", ".join(home.repositories) or "none is listed"
        raise _OverError(f"target: {target}", f"this repository and publish.repositories of .hz/hz.yaml ({others})")


def _numbered(target: str, spec: Mapping[str, Any], home: Home) -> str:
    said = {name: str(spec[name]).removeprefix("#") for name in ("issue", "target") if spec.get(name)}
    fixed = _fixed(target.removeprefix("#"), said, "issue")
    found = _NUMBER.fullmatch(fixed or target)
    if not found:
        raise _OverError(f"target: {target or 'none'}", "an issue or pull request by its number, such as #7")
    repository = found[1] or ""
    if not repository or repository.lower() == home.repository.lower():
        return f"#{found[2]}"
    _may_reach(repository, home, target)
    return f"{repository}#{found[2]}"


def _path(target: str, spec: Mapping[str, Any], _: Home) -> str:
    path = _fixed(target, spec, "path") or target
    if not path:
        raise _OverError("a file without a path", "a `target` that is its path")
    _within(path, _listed(spec.get("paths")))
    return path


def _branch(target: str, spec: Mapping[str, Any], home: Home) -> str:
    fixed = _fixed(target, spec, "branch")
    branch = _ref(fixed or target or f"hz/{home.job}-{home.date}")
    if not fixed and not branch.startswith("hz/"):
        raise _OverError(f"target: {target}", "a branch that begins with hz/, as it names none itself")
    if branch == (spec.get("base") or "main"):
        raise _OverError(f"branch: {branch}", "another branch than the one that the pull request goes to")
    return branch


def _ref(name: str) -> str:
    """Return the name as Git takes it (git-check-ref-format): what it refuses becomes a hyphen."""
    name = re.sub(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.+|@\{|//+", "-", name)
    parts = [re.sub(r"^[.-]+|(?:\.lock|\.)+$", "", part) for part in name.strip("/").split("/")]
    return "/".join(part for part in parts if part)[:200] or "hz/draft"


def _address(target: str, spec: Mapping[str, Any], home: Home) -> str:
    fixed = _fixed(target, spec, "url")
    if not fixed and (urlsplit(target).scheme not in ("http", "https") or urlsplit(target).netloc not in home.hosts):
        raise _OverError(
            f"target: {target or 'none'}", f"the hosts of .hz/hz.yaml ({', '.join(home.hosts) or 'none is listed'})"
        )
    return fixed or target


def _files(asked: Asked, kind: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    if not asked.files:
        return {}
    if kind not in ("file", "pull_request"):
        raise _OverError(f"files: {', '.join(sorted(asked.files))}", "files for a pull request or a file only")
    allowed = _listed(spec.get("paths")) or _listed(spec.get("path"))
    for path in sorted(asked.files):
        _within(path, allowed)
    return dict(asked.files)


def _within(path: str, allowed: tuple[str, ...]) -> None:
    parts = path.split("/")
    odd = path.startswith("/") or "\\" in path or not path.isprintable() or {"", ".", ".."} & set(parts)
    if odd or ".git" in (part.lower() for part in parts):
        raise _OverError(f"file: {path}", "paths below the repository's root, outside of .git")
    if allowed and not any(matches(path, pattern) for pattern in allowed):
        raise _OverError(f"file: {path}", f"paths: {', '.join(allowed)}")
