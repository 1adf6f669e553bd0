"""Attacks with files: everything that a person or another program hands over, torn, nested, enormous or of another kind."""

from __future__ import annotations

import io
import itertools
import json
import random
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import numpy as np

from attacks.arena import small_bank
from attacks.attack import Tries, attack
from fuzz.mutations import hostile_bytes, hostile_documents
from fuzz.test_hostile_files import ENTRIES, inputs, suite_folder
from skilldelta.bank import Bank
from skilldelta.bank.importers import read_source
from skilldelta.bank.importers.paper_vectors import load_npz
from skilldelta.collect.graders.workbook_file import parse_ranges, read_cells
from skilldelta.encoders.imported import read_query_vector
from skilldelta.errors import SkillDeltaError
from skilldelta.estimators.blend import Blend
from skilldelta.estimators.blend.kept import parts_of
from skilldelta.packing import DamagedError, unpack
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.serve.access_tokens import TokenFile

# Seconds that one input may take on a busy machine.
_LONGEST = 10.0


def refused_or_read(read: Callable[..., object], content: bytes, *arguments: object) -> str:
    """What went wrong while something was read that may be refused."""
    began = time.monotonic()
    try:
        read(*arguments)
    except (SkillDeltaError, click.ClickException) as error:
        if "\n" in str(error).strip():
            return f"{error!s:.300} has several lines on {content[:100]!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error!s:.200} on {content[:200]!r}"
    seconds = time.monotonic() - began
    return f"{seconds:.1f} s on {content[:100]!r}" if seconds > _LONGEST else ""


def _entry_tries(name: str, folder: Path, tries: int) -> Tries:
    file, good, document, read = ENTRIES[name]
    path = suite_folder(folder) / file
    for content in itertools.islice(inputs(good, document, seed=11), tries):
        path.write_bytes(content)
        yield refused_or_read(read, content, path)
    return ""


def _register(name: str) -> None:
    def run(folder: Path, tries: int) -> Tries:
        return (yield from _entry_tries(name, folder, tries))

    run.__name__ = f"mutated_{name.replace('.', '_').replace(' ', '_')}"
    attack("files", f"mutations of {name}", tries=1_000, few=0)(run)


for _name in ENTRIES:
    _register(_name)


@attack("files", "mutations of an NPZ of vectors, with headers that claim other shapes and kinds", tries=1_000, few=50)
def mutated_npz(folder: Path, tries: int) -> Tries:
    """Read, or refused in one line; nothing is unpickled."""
    rng = random.Random(13)
    heads = ["<f4", "<f8", "|O", "<U9", "|S3", "<i8", "|V8", "<M8[s]", ">f2", "|b1"]
    shapes = ["(3, 4)", "(10**12,)", "(-1, 4)", "()", "(3,)", "(0, 0)", "(1, 2, 3)", "(10**6, 10**6)", "'x'"]
    path = folder / "vectors.npz"
    whole = io.BytesIO()
    np.savez(whole, ids=np.array(["a", "b", "c"]), vectors=np.ones((3, 4), np.float32))
    variants = hostile_bytes(whole.getvalue(), seed=14)
    for number in range(tries):
        content = next(variants)
        if number % 2:
            head = f"{{'descr': '{rng.choice(heads)}', 'fortran_order': {rng.choice(['False', 'True', '1'])}, 'shape': {rng.choice(shapes)}, }}"
            array = (
                b"\x93NUMPY\x01\x00"
                + len(head).to_bytes(2, "little")
                + head.encode()
                + rng.randbytes(rng.randrange(99))
            )
            file = io.BytesIO()
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("ids.npy", array)
                archive.writestr("vectors.npy", array if rng.random() < 0.5 else b"\0" * 1_000)
            content = file.getvalue()
            (folder / "query.npy").write_bytes(array)
            problem = refused_or_read(read_query_vector, array, folder / "query.npy")
            if problem:
                yield problem
                continue
        path.write_bytes(content)
        yield refused_or_read(load_npz, content, path)
    return ""


@attack("files", "mutations of learned states, with the names of other classes and modules", tries=1_000, few=100)
def mutated_learned_states(folder: Path, tries: int) -> Tries:
    """Refused as damaged, or a model; no module is loaded because a state names it."""
    rng = random.Random(15)
    panel = simulate_panel(np.random.default_rng(0), tasks=12, families=2).support
    good = max(parts_of(Blend().fit(panel), whole=True).values(), key=len)
    size = int.from_bytes(good[7:15], "little")
    header = json.loads(good[15 : 15 + size])
    names = ["skilldelta.__main__:run", "os:system", "subprocess:Popen", "skilldelta.cli.entry:main", "builtins:eval",
             "skilldelta.records:Task", "skilldelta.packing:pack", "skilldelta.estimators.blend:Blend", "", ":", "skilldelta.:x"]  # fmt: skip
    raw, documents = hostile_bytes(good, seed=16), hostile_documents(header, seed=17)
    for number in range(tries):
        if number % 3 == 0:
            content = next(raw)
        else:
            document = json.dumps(next(documents) if number % 3 == 1 else header)
            if number % 3 == 2:
                first = document.partition('"class": "')[2].partition('"')[0]
                document = document.replace(first, rng.choice(names), rng.randrange(1, 3))
            text = document.encode("utf-8", "surrogatepass")
            content = good[:7] + len(text).to_bytes(8, "little") + text + good[15 + size :]
        try:
            unpack(content, object)
        except DamagedError:
            yield ""
        except BaseException as error:
            yield f"{type(error).__name__}: {error!s:.200} on {content[:200]!r}"
        else:
            yield ""
    return ""


def _stranger_stays_out(path: Path) -> None:
    assert not any(TokenFile(path).find(secret, 2.0) for secret in ("", "x", "skd_"))


@attack("files", "mutations of a file of access tokens", tries=1_000, few=60)
def mutated_tokens(folder: Path, tries: int) -> Tries:
    """None of them lets a stranger in."""
    path = folder / "tokens.json"
    TokenFile(path).create("owner", "write", now=1.0)
    good = path.read_bytes()
    documents = (json.dumps(one).encode() for one in hostile_documents(json.loads(good), seed=18))
    variants = (one for pair in zip(hostile_bytes(good, seed=19), documents, strict=False) for one in pair)
    for content in itertools.islice(variants, tries):
        path.write_bytes(content)
        yield refused_or_read(_stranger_stays_out, content, path)
    return ""


def _archives(rng: random.Random) -> Iterator[tuple[str, bytes]]:
    """Archives with members that lead out, are links, claim other sizes, or are torn."""
    import tarfile

    names = ["../out.jsonl", "/etc/out.jsonl", "a/../../out.jsonl", "C:\\out.jsonl", "a\\..\\..\\b.jsonl", "x" * 300, "", ".",
             "a/b/pairs.jsonl", "pairs.jsonl", "\u202epairs.jsonl", "a\0b", "//x", "~/x.jsonl", "con.jsonl"]  # fmt: skip
    row = json.dumps({"task_id": "t", "text": "x", "skill": "s", "agent": "a", "y0": [0], "y1": [1]}).encode()
    while True:
        file, kind = io.BytesIO(), rng.randrange(2)
        if kind == 0:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                for name in rng.choices(names, k=rng.randrange(1, 5)):
                    info = zipfile.ZipInfo(name or "empty")
                    info.external_attr = rng.choice([0o100644, 0o120777, 0o010644, 0o040755]) << 16
                    archive.writestr(info, rng.choice([row, b"/etc/passwd", b"\0" * 300_000, b"{" * 3_000]))
        else:
            with tarfile.open(fileobj=file, mode="w:gz") as tar:
                for name in rng.choices(names, k=rng.randrange(1, 5)):
                    member = tarfile.TarInfo(name)
                    member.type = rng.choice(
                        [tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE]
                    )
                    member.linkname, member.size = "/etc/passwd", len(row) if member.type == tarfile.REGTYPE else 0
                    tar.addfile(member, io.BytesIO(row) if member.size else None)
        content = file.getvalue()
        yield (
            ("x.zip", "x.tar.gz")[kind],
            next(hostile_bytes(content, rng.randrange(10**6))) if rng.random() < 0.4 else content,
        )


def _nothing_of_the_machine(path: Path) -> None:
    assert "root:" not in repr(read_source(path))


@attack("files", "archives with members that lead out, links, devices, bombs and torn ends", tries=1_000, few=60)
def hostile_archives(folder: Path, tries: int) -> Tries:
    """Read in place or refused; nothing is written anywhere, and no file of the machine is read."""
    inner = folder / "inner"
    inner.mkdir()
    for name, content in itertools.islice(_archives(random.Random(20)), tries):
        path = inner / name
        path.write_bytes(content)
        problem = refused_or_read(_nothing_of_the_machine, content, path)
        path.unlink()
        if not problem and (list(inner.iterdir()) or [entry.name for entry in folder.iterdir()] != ["inner"]):
            problem = f"something was written: {list(folder.rglob('*'))}"
        yield problem
    return ""


def _read_cells(path: Path, position: str) -> None:
    read_cells(path, parse_ranges(position))


@attack("files", "mutations of a workbook, and of the positions of cells", tries=500, few=30)
def mutated_workbooks(folder: Path, tries: int) -> Tries:
    """Read, or refused as no workbook."""
    from suites.workbooks import write_workbook

    path = folder / "book.xlsx"
    write_workbook(path, {"Data": [["a", 1], ["b", 2.5]]})
    good = path.read_bytes()
    variants, positions = hostile_bytes(good, seed=21), hostile_bytes(b"'Data'!A1:B2,Data!A1", seed=22)
    for number in range(tries):
        content = next(variants) if number % 2 else good
        path.write_bytes(content)
        position = "Data!A1:B2" if number % 2 else next(positions).decode("latin-1")
        yield refused_or_read(_read_cells, content + position.encode(), path, position)
    return ""


@attack("files", "a bank whose bytes were changed", tries=300, few=0)
def damaged_banks(folder: Path, tries: int) -> Tries:
    """Opened, read and verified, or refused in one line; a changed row is never handed out as a good one."""
    path = small_bank(folder)
    good = path.read_bytes()
    with Bank.open(path, readonly=True) as bank:
        right = {task.task_id: task.text for task in bank.tasks()}
    rng = random.Random(23)
    undetected = 0
    for _ in range(tries):
        content = bytearray(good)
        for _ in range(rng.randrange(1, 4)):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
        changed: list[str] = []

        def read(changed: list[str] = changed) -> None:
            with Bank.open(path, create=False, readonly=True) as bank:
                texts = {task.task_id: task.text for task in bank.tasks()}
                problems = bank.verify()
                if texts != right and not problems:
                    changed.append("other texts were handed out, and verify finds nothing")

        problem = refused_or_read(read, bytes(content))
        undetected += bool(changed)
        yield problem or (changed[0] if changed else "")
    return f"{undetected} changes went unnoticed"
