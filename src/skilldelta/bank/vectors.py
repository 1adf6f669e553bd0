"""The cache of vectors: float32 blobs keyed by encoder identity and text digest, so that nothing is encoded twice.

Vectors of different encoders never meet: they are stored and read under one identity, which has one dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from sqlalchemy import Connection, select

from skilldelta.arrays import Vectors
from skilldelta.bank import schema
from skilldelta.bank.batch import TextVector, matrix_of
from skilldelta.bank.cache import Cache
from skilldelta.bank.database import Backend, Database
from skilldelta.bank.schema import changed_row, chunked, insert_rows, next_key, vector_checksum
from skilldelta.errors import InputError
from skilldelta.nouns import plural
from skilldelta.records import text_digest

Progress = Callable[[int, int], None]

_TEXTS_PER_TRANSACTION = 1024
_VECTORS_AT_ONCE = 4096
# Two encodings of one text on two machines differ by rounding only; by more than this they are not one encoder's.
_SAME = 1e-3


class TextEncoder(Protocol):
    """What the bank needs of an encoder (the same as `encoders.Encoder`)."""

    @property
    def identity(self) -> str: ...
    def encode(self, texts: Sequence[str]) -> Vectors: ...


def cached_vectors(
    database: Database, cache: Cache, encoder: TextEncoder, texts: Sequence[str], *, progress: Progress | None = None
) -> Vectors:
    """(n, dim) one row per text. What neither the bank nor its cache has is encoded, and cached if that is possible.

    Each piece is cached as soon as it is encoded, so that an interrupted run loses one piece at most.
    """
    digests = [text_digest(text) for text in texts]
    text_of = dict(zip(digests, texts, strict=True))
    with database.read() as connection:
        blobs = read_vectors(connection, encoder.identity, text_of)
    missing = [digest for digest in text_of if digest not in blobs]
    if missing:
        blobs |= cache.read({}, read_vectors, encoder.identity, missing)
        missing = [digest for digest in missing if digest not in blobs]
    for start in range(0, len(missing), _TEXTS_PER_TRANSACTION):
        piece = missing[start : start + _TEXTS_PER_TRANSACTION]
        rows = _encoded(encoder, [text_of[digest] for digest in piece])
        new = [TextVector(encoder.identity, digest, row) for digest, row in zip(piece, rows, strict=True)]
        cache.write(add_vectors, database.backend, new)
        blobs.update((digest, row.tobytes()) for digest, row in zip(piece, rows, strict=True))
        if progress is not None:
            progress(start + len(piece), len(missing))
    if not texts:
        return np.empty((0, _dimension(database, cache, encoder)), np.float32)
    return _stacked(encoder.identity, [blobs[digest] for digest in digests])


def read_vectors(connection: Connection, encoder: str, digests: Iterable[str]) -> dict[str, bytes]:
    """The stored blobs of some texts, by digest."""
    table = schema.vectors
    key = connection.execute(select(schema.encoders.c.key).where(schema.encoders.c.identity == encoder)).scalar()
    if key is None:
        return {}
    query = select(*table.c["text_digest", "vector", "checksum"]).where(table.c.encoder_key == key)
    blobs: dict[str, bytes] = {}
    for chunk in chunked([bytes.fromhex(digest) for digest in digests]):
        for digest, vector, checksum in connection.execute(query.where(table.c.text_digest.in_(chunk))):
            if vector_checksum((key, digest, vector)) != checksum and checksum != schema.UNCHECKED:
                raise changed_row(f"the vector of text {digest.hex()[:12]} by encoder {encoder!r}")
            blobs[digest.hex()] = vector
    return blobs


def add_vectors(connection: Connection, backend: Backend, vectors: Sequence[TextVector]) -> int:
    """Store what is new and return how many; a vector that differs from the stored one of the same text and encoder is refused."""
    by_encoder: dict[str, list[TextVector]] = {}
    for vector in vectors:
        by_encoder.setdefault(vector.encoder, []).append(vector)
    return sum(_add_of_one_encoder(connection, backend, name, group) for name, group in by_encoder.items())


def _add_of_one_encoder(connection: Connection, backend: Backend, name: str, vectors: list[TextVector]) -> int:
    encoder: _Encoder | None = None
    came: set[str] = set()
    for start in range(0, len(vectors), _VECTORS_AT_ONCE):
        piece = vectors[start : start + _VECTORS_AT_ONCE]
        matrix = matrix_of(piece)
        encoder = encoder or _known_encoder(connection, backend, name, matrix.shape[1])
        _check_dimension(name, encoder.dimension, matrix.shape[1])
        digests = dict.fromkeys(v.text_digest for v in piece if not encoder.is_new or v.text_digest in came)
        stored = read_vectors(connection, name, digests)
        rows = _new_rows(encoder, piece, matrix, stored)
        insert_rows(connection, backend, schema.vectors, rows)
        came.update(v.text_digest for v in piece if v.text_digest not in stored)
    return len(came)


@dataclass(frozen=True, slots=True)
class _Encoder:
    key: int
    identity: str
    dimension: int
    is_new: bool


def _new_rows(
    encoder: _Encoder, vectors: Sequence[TextVector], matrix: Vectors, stored: Mapping[str, bytes]
) -> list[tuple[int, bytes, bytes]]:
    """Rows for the table; a vector that came twice, or is stored, must be the same one."""
    new: dict[str, bytes] = {}
    for vector, row in zip(vectors, matrix, strict=True):
        digest = vector.text_digest
        stored_blob = stored.get(digest) or new.get(digest)
        if stored_blob is None:
            new[digest] = row.tobytes()
        else:
            _check_same(encoder.identity, digest, stored_blob, row)
    return [(encoder.key, _digest_bytes(digest), blob) for digest, blob in new.items()]


def _known_encoder(connection: Connection, backend: Backend, name: str, dimension: int) -> _Encoder:
    """The encoder's row; a new one is made for the dimension that came first."""
    table = schema.encoders
    row = connection.execute(select(table.c.key, table.c.dimension).where(table.c.identity == name)).first()
    if row is not None:
        return _Encoder(row.key, name, row.dimension, is_new=False)
    key = next_key(connection, table)
    insert_rows(connection, backend, table, [(key, name, dimension)])
    return _Encoder(key, name, dimension, is_new=True)


def _check_dimension(name: str, stored: int, came: int) -> None:
    if stored != came:
        raise InputError(
            f"encoder {name!r} has vectors of dimension {stored} and one of {came} came; "
            "vectors of different encoders never meet: give the other encoder another identity"
        )


def _check_same(encoder: str, digest: str, stored: bytes, row: Vectors) -> None:
    old = np.frombuffer(stored, np.float32)
    cosine = float(old @ row) / float(np.sqrt((old @ old) * (row @ row)))
    if cosine < 1 - _SAME:
        raise InputError(
            f"the vector of text {digest[:12]} is in the bank for encoder {encoder!r} and a different one came "
            f"(cosine {cosine:.3f}); vectors of different encoders never meet: give the other encoder another identity"
        )


def _digest_bytes(digest: str) -> bytes:
    try:
        raw = bytes.fromhex(digest)
    except ValueError:
        raw = b""
    if len(raw) != 32:
        raise InputError(f"{digest!r} is not the SHA-256 digest of a text; use records.text_digest(text)")
    return raw


def _encoded(encoder: TextEncoder, texts: Sequence[str]) -> Vectors:
    rows = np.asarray(encoder.encode(texts), np.float32)
    if rows.ndim != 2 or len(rows) != len(texts):
        raise InputError(
            f"encoder {encoder.identity!r} gave shape {rows.shape} for {plural(len(texts), 'text')}; one row per text"
        )
    return rows


def _dimension(database: Database, cache: Cache, encoder: TextEncoder) -> int:
    """The width of an empty matrix, so that it can be compared with a vector of the same encoder."""
    with database.read() as connection:
        dimension = _known_dimension(connection, encoder.identity)
    dimension = dimension or cache.read(None, _known_dimension, encoder.identity)
    return dimension or _encoded(encoder, ["width"]).shape[1]


def _known_dimension(connection: Connection, encoder: str) -> int | None:
    table = schema.encoders
    return connection.execute(select(table.c.dimension).where(table.c.identity == encoder)).scalar()


def _stacked(encoder: str, blobs: Sequence[bytes]) -> Vectors:
    if len({len(blob) for blob in blobs}) > 1:
        raise InputError(f"encoder {encoder!r} gave vectors of unequal dimensions; use an encoder with one dimension")
    return np.frombuffer(b"".join(blobs), np.float32).reshape(len(blobs), -1)
