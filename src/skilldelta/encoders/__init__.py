"""Task text to vectors. Each encoder is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from skilldelta.encoders.base import Encoder, EncoderError
from skilldelta.errors import InputError

__all__ = ["ENCODERS", "Encoder", "EncoderError", "load_encoder"]

ENCODERS: tuple[str, ...] = ("wordllama", "tfidf", "openai", "sentence-transformers")


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
    """The encoder of that name; options that it does not have are ignored.

    A name that starts with "imported/" is the identity of vectors that came with an import.
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
    raise _unknown(name)


def check_encoder_name(name: str) -> None:
    """Refuse a name that no encoder has, without loading any."""
    if name not in ENCODERS and not name.startswith("imported/"):
        raise _unknown(name)


def _unknown(name: str) -> InputError:
    return InputError(f"unknown encoder {name!r}; known are {', '.join(ENCODERS)}", setting="encoder")
