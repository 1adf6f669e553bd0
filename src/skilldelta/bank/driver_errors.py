"""A driver's errors as one line with a remedy."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DBAPIError

from skilldelta.errors import BankError, UnwritableBankError

DRIVER_ERRORS = (DBAPIError, sqlite3.Error, UnicodeDecodeError)
"""What a database may raise; the last one when SQLite complains about a text that it cannot even quote."""

_UNREACHABLE = ("connection", "server", "resolve host", "ssl", "timeout expired")


def explained(error: DBAPIError | sqlite3.Error | UnicodeDecodeError, location: str) -> BankError:
    """A driver's error as one line with a remedy."""
    if isinstance(error, UnicodeDecodeError):
        return _of_a_file("malformed text", location)
    driver = error.orig if isinstance(error, DBAPIError) else error
    cause = (str(driver).strip() or type(driver).__name__).splitlines()[0]
    if isinstance(driver, sqlite3.Error):
        return _of_a_file(cause, location)
    return _of_a_server(cause, location)


def _of_a_file(cause: str, location: str) -> BankError:
    said = cause.lower()
    if "not a database" in said:
        return not_a_bank(location, cause)
    if "lock" in said or "busy" in said:
        return BankError(f"the bank {location} is locked by another program ({cause}); wait for it, or end it")
    if "readonly" in said or "read-only" in said or "unable to open" in said:
        return UnwritableBankError(
            f"the bank {location} cannot be written or opened ({cause}); check its folder's permissions"
        )
    if "full" in said:
        return UnwritableBankError(f"the disk of the bank {location} is full ({cause}); free some space and repeat")
    if "malformed" in said or "decode" in said:
        return BankError(f"the bank {location} is damaged ({cause}); restore a copy of it")
    if "disk i/o" in said:
        return BankError(f"the disk of the bank {location} fails or is full ({cause}); check the disk, and repeat")
    return BankError(f"the bank {location} cannot be used ({cause}); run: skilldelta bank verify")


def _of_a_server(cause: str, location: str) -> BankError:
    said = cause.lower()
    if "lock timeout" in said:
        return BankError(f"the bank {location} is being written by another program ({cause}); wait for it, or end it")
    if "statement timeout" in said:
        return BankError(f"the server of the bank {location} took too long ({cause}); repeat when it is less busy")
    if "read-only" in said or "permission denied" in said:
        return UnwritableBankError(f"the bank {location} cannot be written ({cause}); ask for the right to write it")
    if any(word in said for word in _UNREACHABLE):
        return BankError(f"the bank {location} cannot be reached ({cause}); check the URL and the server, and repeat")
    return BankError(f"the bank {location} cannot be used ({cause}); run: skilldelta bank verify")


def not_a_bank(location: str, why: str) -> BankError:
    """A file or database that is something else."""
    return BankError(
        f"{location} is not a SkillDelta bank: {why}; give another path, or import into a new one", setting="bank"
    )
