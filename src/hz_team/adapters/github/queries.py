"""The GraphQL operations, by name. Asked only where REST has no answer: histories, pins, discussions.

Mutations stand here too; whoever sends one has looked for its marker, and holds the lease.
"""

from __future__ import annotations

DOCUMENTS = {
    "BodyEdits": """\
query BodyEdits($id: ID!, $after: String) {
  node(id: $id) {
    ... on Issue { userContentEdits(first: 100, after: $after) { ...edits } }
    ... on IssueComment { userContentEdits(first: 100, after: $after) { ...edits } }
  }
}
fragment edits on UserContentEditConnection {
  nodes { editedAt deletedAt diff editor { __typename login } }
  pageInfo { hasNextPage endCursor }
}
""",
    "PinIssue": """\
mutation PinIssue($id: ID!) {
  pinIssue(input: {issueId: $id}) { issue { number } }
}
""",
    "Discussions": """\
query Discussions($owner: String!, $name: String!, $after: String, $category: ID) {
  repository(owner: $owner, name: $name) {
    discussions(
      first: 50
      after: $after
      categoryId: $category
      orderBy: {field: CREATED_AT, direction: DESC}
    ) {
      nodes {
        id
        number
        title
        body
        url
        createdAt
        closed
        author { login }
        category { name }
        labels(first: 20) { nodes { name } }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}
""",
    "DiscussionCategories": """\
query DiscussionCategories($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
    id
    discussionCategories(first: 50) { nodes { id name slug } }
  }
}
""",
    "CreateDiscussion": """\
mutation CreateDiscussion($repository: ID!, $category: ID!, $title: String!, $body: String!) {
  createDiscussion(input: {repositoryId: $repository, categoryId: $category, title: $title, body: $body}) {
    discussion { number url }
  }
}
""",
    "CloseDiscussion": """\
mutation CloseDiscussion($id: ID!) {
  closeDiscussion(input: {discussionId: $id}) { discussion { number } }
}
""",
}
PERMISSIONS = {
    "BodyEdits": "issues: read",
    "PinIssue": "issues: write",
    "Discussions": "discussions: read",
    "DiscussionCategories": "discussions: read",
    "CreateDiscussion": "discussions: write",
    "CloseDiscussion": "discussions: write",
}
"""What the token needs for each."""
