"""A GitHub on loopback for tests and demos: REST, GraphQL, Git, people, tokens, events and mishaps.

with GitHub() as github:
    repo = github.repository("acme/housework")
    mona = github.person("mona", "write", repo="acme/housework")
    token = github.token("actions", "acme/housework", permissions={"issues": "write"})
    issue = mona.opens(repo, "Title", "body")
"""

from hz_team.testing.github.fault import Fault
from hz_team.testing.github.noun import Account, Comment, Discussion, Edit, Issue, Label, Pull, Release, Run, Workflow
from hz_team.testing.github.person import Person
from hz_team.testing.github.server import GitHub, Seen
from hz_team.testing.github.store import Repository

__all__ = [
    "Account",
    "Comment",
    "Discussion",
    "Edit",
    "Fault",
    "GitHub",
    "Issue",
    "Label",
    "Person",
    "Pull",
    "Release",
    "Repository",
    "Run",
    "Seen",
    "Workflow",
]
