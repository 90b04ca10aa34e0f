"""For a team's own tests: run one job without a team (`run_job`), and a feed server on loopback (`FeedServer`)."""

from hz_team.testing.feedserver import Answer, FeedServer
from hz_team.testing.job import run_job

__all__ = ["Answer", "FeedServer", "run_job"]
