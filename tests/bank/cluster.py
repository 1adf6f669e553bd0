"""A private PostgreSQL cluster for the tests: on a socket in a folder of its own, without a port, gone afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SETTINGS = ("listen_addresses=''", "fsync=off", "full_page_writes=off", "max_connections=50")


@dataclass(frozen=True)
class Cluster:
    """A running server."""

    folder: Path
    programs: Path
    user: str | None  # the account that runs it; None is one's own

    @property
    def url(self) -> str:
        """The database that every test uses in its turn."""
        return f"postgresql+psycopg://postgres@/postgres?host={self.folder}"

    @property
    def process_id(self) -> int:
        """The server's main process."""
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Run SQL, past the bank."""
        import psycopg

        options: dict[str, Any] = {"options": "-cclient_min_messages=warning", "autocommit": True}
        with psycopg.connect(f"host={self.folder} user=postgres dbname=postgres", **options) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def run(self, program: str, *arguments: str) -> None:
        """Run one of the server's own programs as its account."""
        log = self.folder / "log"
        with log.open("ab") as output:
            done = subprocess.run(
                [self.programs / program, *arguments],
                user=self.user,
                extra_groups=[] if self.user else None,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                timeout=60,
                cwd=self.folder,
            )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {log.read_text()[-2000:]}")


def server_programs() -> Path | None:
    """The folder of initdb and pg_ctl: of PATH, or where Debian keeps them."""
    found = [Path(shutil.which("initdb") or "none"), *sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))]
    return next((path.resolve().parent for path in found if path.exists()), None)


@contextmanager
def running_cluster(programs: Path) -> Iterator[Cluster]:
    """Make, start, and in the end stop and remove a cluster. Root hands it to another account, as initdb demands."""
    folder = Path(tempfile.mkdtemp(prefix="skilldelta-pg-"))  # short: a socket's path has at most 107 bytes
    user = _account() if os.geteuid() == 0 else None
    try:
        if user:
            shutil.chown(folder, user)
        cluster = Cluster(folder, programs, user)
        data = str(folder / "data")
        cluster.run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        options = " ".join([f"-k {folder}", *(f"-c {setting}" for setting in _SETTINGS)])
        cluster.run("pg_ctl", "-D", data, "-w", "-o", options, "start")
        try:
            yield cluster
        finally:
            cluster.run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _account() -> str:
    import pwd

    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"
