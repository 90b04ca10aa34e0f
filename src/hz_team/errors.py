"""Three kinds of failure: data of one job, a sentence for the user, a bug."""

from __future__ import annotations


class HzError(Exception):
    """Something the user can understand and mend; the message says where, what, and what to do."""

    code = 2
    """Exit code of the command (DESIGN §5)."""


class UsageError(HzError):
    """Wrong words on the command line, no readable configuration, colliding ids."""

    code = 2


class RemoteError(HzError):
    """Git, a forge or the file system refused; trying again at once will not help."""

    code = 4


class TryAgain(HzError):
    """Another tick holds the lock, or a race was lost: the same command may work later."""

    code = 75


class Deferred(TryAgain):
    """A forge asks us to wait: nothing more is asked of it before `until`, in seconds since 1970."""

    def __init__(self, text: str, until: int) -> None:
        """`text` says who asks, and until when in plain words."""
        super().__init__(text)
        self.until = until


class Forbidden(RemoteError):
    """A token may not do that; the sentence names the permission it lacks. Trying again cannot help."""


class Behind(TryAgain):
    """Somebody vouches for a longer ledger than the one that was read."""


class LeaseOver(TryAgain):
    """There is no time left for another write under a lease."""


class PublishRefused(HzError):
    """Nothing was published, and trying the same again cannot help."""

    code = 4


class PublishUnknown(HzError):
    """It was sent and nobody can tell whether it arrived: never sent again unless a person says so."""

    code = 4
