"""Task text to vectors: the one-method contract of an encoder, and the encoders by name, imported when asked for.

Another package adds an encoder by an entry point of the group `skilldelta.encoders`: its name is the encoder's, and it leads
to a class, or a function, that makes an `Encoder` without arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from skilldelta.arrays import Vectors
from skilldelta.errors import InputError, SkillDeltaError

__all__ = ["ENCODERS", "Encoder", "EncoderError", "load_encoder"]

ENCODERS: tuple[str, ...] = ("wordllama", "tfidf", "openai", "sentence-transformers")


# The entry points of other packages.
GROUP = "skilldelta.encoders"


class EncoderError(SkillDeltaError):
    """An encoder that cannot do its work now, such as an endpoint that does not answer."""


class Encoder(Protocol):
    """Turns task texts into unit vectors. Only task text is ever encoded: no outcome, no skill text."""

    @property
    def identity(self) -> str:
        """Name, version, dimension and normalization; vectors of different identities never meet."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32 rows of length 1, in the order of `texts`."""


def check_texts(texts: Sequence[str]) -> list[str]:
    """The texts as a list, refused by position where one has nothing to encode or cannot be written as UTF-8."""
    if isinstance(texts, str):
        raise InputError(f"texts must be a list of texts, got the single text {texts[:40]!r}; put it into a list")
    checked = list(texts)
    for position, text in enumerate(checked):
        if not isinstance(text, str):
            raise InputError(f"text {position} must be a string, got {type(text).__name__}")
        if not text.strip():
            raise InputError(f"text {position} is empty and has no direction; give every task a text")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(
                f"text {position} has half a surrogate pair at character {error.start}; remove that character"
            ) from None
    return checked


def load_encoder(
    name: str = "wordllama",
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    model: str | None = None,
    dimensions: int | None = None,
    corpus: Sequence[str] | None = None,
    proxy: str | None = None,
) -> Encoder:
    """The encoder of a name; options that it does not have are ignored.

    Parameters:
        name: wordllama, tfidf, openai, sentence-transformers, the name of another package's encoder, or "imported/…",
            the identity of vectors that came with an import.
        base_url: Of an OpenAI-compatible endpoint.
        api_key: Of that endpoint.
        model: Of the endpoint, or of sentence-transformers.
        dimensions: Of the vectors, where the endpoint lets one choose.
        corpus: The texts that TF-IDF takes its vocabulary from.
        proxy: Through which the endpoint is reached.

    Returns:
        The encoder.

    Raises:
        InputError: No encoder has this name, or an option that it needs is missing.
        EncoderError: It cannot be loaded.

    Examples:
        >>> load_encoder("tfidf", corpus=["two miles", "three feet"]).encode(["two feet"]).shape[0]
        1
    """
    if name == "wordllama":
        from skilldelta.encoders.wordllama import WordLlamaEncoder

        return WordLlamaEncoder()
    if name == "tfidf":
        from skilldelta.encoders.tfidf import TfidfEncoder

        return TfidfEncoder(corpus or ())
    if name == "openai":
        from skilldelta.encoders.openai import OpenAIEncoder

        if not base_url or not model:
            raise InputError("the encoder 'openai' needs a base URL and a model; give both", setting="encoder")
        return OpenAIEncoder(base_url, model, api_key=api_key, dimensions=dimensions, proxy=proxy)
    if name == "sentence-transformers":
        from skilldelta.encoders.sentence_transformers import SentenceTransformersEncoder

        return SentenceTransformersEncoder(model)
    if name.startswith("imported/"):
        from skilldelta.encoders.imported import ImportedEncoder

        return ImportedEncoder(name)
    return _installed_encoder(name)


def _installed_encoder(name: str) -> Encoder:
    """The encoder that another package brings."""
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=name):
        origin = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        try:
            encoder: Encoder = point.load()()
        except Exception as error:  # another package's code may raise anything
            raise EncoderError(
                f"the encoder {name!r} of {origin} cannot be made ({error}); repair or uninstall it"
            ) from error
        if not (isinstance(getattr(encoder, "identity", None), str) and callable(getattr(encoder, "encode", None))):
            raise EncoderError(f"the encoder {name!r} of {origin} has no identity and encode(texts); repair it")
        return encoder
    raise _unknown(name)


def check_encoder_name(name: str) -> None:
    """Refuse a name that no encoder has, without loading any."""
    if name not in ENCODERS and not name.startswith("imported/") and name not in _installed_names():
        raise _unknown(name)


def _unknown(name: str) -> InputError:
    names = (*ENCODERS, *_installed_names())
    return InputError(
        f"unknown encoder {name!r}; known are {', '.join(names)}; other packages add theirs in {GROUP}",
        setting="encoder",
    )


def _installed_names() -> tuple[str, ...]:
    from importlib.metadata import entry_points

    return tuple(sorted(point.name for point in entry_points(group=GROUP)))
