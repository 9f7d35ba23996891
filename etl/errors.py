"""What can go wrong in words a person can act on, each with the exit code it ends in.

CclakeError
├── UnfinishedError  1  a commit is safe, but what has to follow it is not done yet
├── UsageError       2  the command line or the settings do not make sense
├── BusyError        3  another sync holds the lock, or won the race for the commit
├── StateError       4  the warehouse's state is damaged, or from a newer version
└── StorageError     5  input or output failed and nothing was committed
"""


class CclakeError(Exception):
    """A failure that is shown as a sentence and a hint, never as a traceback."""

    exit_code = 1

    def __init__(self, what: str, *, hint: str | None = None) -> None:
        """Say what happened and where in `what`, and what to do about it in `hint`."""
        super().__init__(what)
        self.what = what
        self.hint = hint


class UnfinishedError(CclakeError):
    """Raised when a commit is safe, but what has to follow it is not done yet."""


class UsageError(CclakeError):
    """Raised when the command line or the settings do not make sense."""

    exit_code = 2


class BusyError(CclakeError):
    """Raised when another sync is at work on the same warehouse."""

    exit_code = 3


class StateError(CclakeError):
    """Raised when the warehouse's state cannot be trusted or is from a newer version."""

    exit_code = 4


class CheckError(CclakeError):
    """Raised when the warehouse is sound, but something that was asked of it does not hold."""

    exit_code = 4


class StorageError(CclakeError):
    """Raised when reading or writing failed and nothing was committed."""

    exit_code = 5
