"""The version, in one place: pyproject.toml and `skilldelta --version` both read it here."""

__version__ = "0.1.0"
