"""A driver's errors as one line with a remedy."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DBAPIError

from skilldelta.errors import BankError, DamagedBankError, UnwritableBankError

# What a database may raise; the last one when SQLite complains about a text that it cannot even quote.
DRIVER_ERRORS = (DBAPIError, sqlite3.Error, UnicodeDecodeError)

# What a driver says, of which the first that fits counts; the error; and the line, of the bank's location and the cause.

_OF_A_FILE = (
    (("lock", "busy"), BankError, "the bank {} is locked by another program ({}); wait for it, or end it"),
    (
        ("readonly", "read-only", "unable to open"),
        UnwritableBankError,
        "the bank {} cannot be written or opened ({}); check its folder's permissions",
    ),
    (("full",), UnwritableBankError, "the disk of the bank {} is full ({}); free some space and repeat"),
    (("malformed", "decode"), DamagedBankError, "the bank {} is damaged ({}); restore a copy of it"),
    (("disk i/o",), BankError, "the disk of the bank {} fails or is full ({}); check the disk, and repeat"),
)
_OF_A_SERVER = (
    (("lock timeout",), BankError, "the bank {} is being written by another program ({}); wait for it, or end it"),
    (("statement timeout",), BankError, "the server of the bank {} took too long ({}); repeat when it is less busy"),
    (
        ("read-only", "permission denied"),
        UnwritableBankError,
        "the bank {} cannot be written ({}); ask for the right to write it",
    ),
    (
        ("connection", "server", "resolve host", "ssl", "timeout expired"),
        BankError,
        "the bank {} cannot be reached ({}); check the URL and the server, and repeat",
    ),
)


def explained(error: DBAPIError | sqlite3.Error | UnicodeDecodeError, location: str) -> BankError:
    """A driver's error as one line with a remedy."""
    driver = error.orig if isinstance(error, DBAPIError) else error
    is_text = isinstance(driver, UnicodeDecodeError)
    cause = "malformed text" if is_text else (str(driver).strip() or type(driver).__name__).splitlines()[0]
    # SQLite quotes what it read from a damaged page, whatever that does to a terminal.
    cause = "".join(character if character.isprintable() else "�" for character in cause)
    is_file = is_text or isinstance(driver, sqlite3.Error)
    words_of_driver = cause.lower()
    if is_file and "not a database" in words_of_driver:
        return not_a_bank(location, cause)
    for words, kind, line in _OF_A_FILE if is_file else _OF_A_SERVER:
        if any(word in words_of_driver for word in words):
            return kind(line.format(location, cause))
    return BankError(f"the bank {location} cannot be used ({cause}); run: skilldelta bank verify")


def not_a_bank(location: str, why: str) -> BankError:
    """A file or database that is something else."""
    return BankError(
        f"{location} is not a SkillDelta bank: {why}; give another path, or import into a new one", setting="bank"
    )
