"""Confine this process for good: files by Landlock, and root's special rights taken away (Linux 5.13 and later).

Python has no binding for the three system calls, so they are made by number (the same on every architecture); names and
values as in landlock(7) and linux/landlock.h. Not covered by any Landlock: chmod, chown and stat of a path outside, and
connecting to a socket that has a path; docs/security.md says so.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import sys

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION = 1 << 0
PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
EVERYTHING = (1 << 13) - 1
"""The rights of the first ABI, bits 0 to 12."""
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
SINCE = {2: REFER, 3: TRUNCATE, 5: IOCTL_DEV}
"""Rights that came with a later ABI."""
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
"""The rights that a rule on a plain file may give."""
SCOPES = 1 << 0 | 1 << 1
"""Abstract Unix sockets and signals stay inside (ABI 6)."""

NO_NEW_PRIVS, DROP_BOUNDING = 38, 24
CAPABILITIES = 64


def abi() -> int:
    """Return the version of Landlock that the running kernel offers, 0 if none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, _call(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(VERSION)))


def confine(read: list[str], write: list[str], browse: list[str]) -> None:
    """Give up every file but those below `read` and `write`; of `browse` only names may be listed.

    Paths that do not exist are left out. Raises OSError if the kernel offers Landlock and then refuses it.
    """
    _check(_libc().prctl(NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    version = abi()
    if not version:
        return
    handled = EVERYTHING
    for since, right in SINCE.items():
        handled |= right if version >= since else 0
    sheet = struct.pack("=QQQ", handled, 0, SCOPES)[: 24 if version >= 6 else 8]  # noqa: PLR2004  (the ABI that added it)
    ruleset = _check(_call(CREATE_RULESET, sheet, ctypes.c_size_t(len(sheet)), ctypes.c_uint32(0)), "create a ruleset")
    for paths, rights in ((read, EXECUTE | READ_FILE | READ_DIR | IOCTL_DEV), (write, handled), (browse, READ_DIR)):
        for path in paths:
            _allow(ruleset, path, rights & handled)
    _check(_call(RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0)), "restrict")
    os.close(ruleset)


def drop_capabilities() -> None:
    """Make root an ordinary user with number 0: what it runs from now on gets no capability back."""
    for number in range(CAPABILITIES):
        if _libc().prctl(DROP_BOUNDING, number, 0, 0, 0) < 0:
            break


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(folder).st_mode):
            rights &= ON_FILES
        rule = struct.pack("=Qi", rights, folder)
        if rights:
            _check(_call(ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(PATH_BENEATH), rule, ctypes.c_uint32(0)), path)
    finally:
        os.close(folder)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    call = _libc().syscall
    call.restype = ctypes.c_long
    return int(call(ctypes.c_long(number), *arguments))


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno() or errno.EPERM
        raise OSError(code, f"Landlock refused to {what}: {os.strerror(code)}")
    return result
