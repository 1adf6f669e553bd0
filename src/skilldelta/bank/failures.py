"""A driver's errors as one line with a remedy."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DBAPIError

from skilldelta.errors import BankError


def explained(error: DBAPIError | sqlite3.Error, location: str) -> BankError:
    """A driver's error as one line with a remedy."""
    cause = str(error.orig if isinstance(error, DBAPIError) else error).strip().splitlines()[0]
    said = cause.lower()
    if "not a database" in said:
        return not_a_bank(location, cause)
    if "lock" in said or "busy" in said:
        return BankError(f"the bank {location} is locked by another program ({cause}); wait for it, or end it")
    if "readonly" in said or "read-only" in said or "unable to open" in said:
        return BankError(f"the bank {location} cannot be written or opened ({cause}); check its folder's permissions")
    if "full" in said:
        return BankError(f"the disk of the bank {location} is full ({cause}); free some space and repeat")
    if "malformed" in said or "disk i/o" in said:
        return BankError(f"the bank {location} is damaged ({cause}); restore a copy of it")
    return BankError(f"the bank {location} cannot be used ({cause}); run: skilldelta bank verify")


def not_a_bank(location: str, why: str) -> BankError:
    """A file or database that is something else."""
    return BankError(f"{location} is not a SkillDelta bank: {why}; give another path, or import into a new one")
