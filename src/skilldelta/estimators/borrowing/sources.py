"""The door for evidence that is not the agent's own: another agent's pairs, or another person's pack.

A `EvidenceSource` is the pairs of one other agent (or of one agent in one pack) as a `Support`, with a digest per row that says
which task the row is about. Whatever comes through here is borrowed: it can move a prediction as far as the agent's own
pairs have shown it to be right, and it is never counted, shown or stored as own evidence. To bring in evidence of another
kind, make a `EvidenceSource` of it; nothing else in the package needs to know where it came from.

A row is the same task as another one when the digests of their texts and their skills are equal. Two suites may give one
text two ids, and one id two texts: ids and suites alone never match.
"""

from __future__ import annotations

from dataclasses import dataclass

from skilldelta.errors import InputError
from skilldelta.records import text_digest
from skilldelta.support import Support

# What names a task among sources: the digest of its text, and the skill.
TaskKey = tuple[str, str]


@dataclass(frozen=True, eq=False)
class EvidenceSource:
    """The pairs of one other agent.

    Examples:
        >>> EvidenceSource.of("gpt-5", support).name
        'gpt-5'
    """

    name: str
    """Who ran the pairs, as people read it."""
    support: Support
    """Its pairs, with vectors of the encoder that the borrower uses."""
    digests: tuple[str, ...]
    """(n,) the digest of each row's text; a pack without texts brings its digests along."""
    pack: str = ""
    """The pack that it came in; empty for an agent of the same bank."""

    def __post_init__(self) -> None:
        if len(self.digests) != len(self.support):
            raise InputError(
                f"the source {self.name} has {len(self.support)} pairs and {len(self.digests)} digests; give one for each"
            )

    @classmethod
    def of(cls, name: str, support: Support, *, pack: str = "") -> EvidenceSource:
        """A source whose support has its texts.

        Parameters:
            name: Who ran the pairs.
            support: The pairs, of one agent.
            pack: The pack that they came in; empty for an agent of the same bank.

        Returns:
            The source, its rows named by the digests of their texts.

        Raises:
            InputError: The support has pairs without texts, which cannot be matched.
        """
        if len(support) and not support.texts:
            raise InputError(f"the source {name} has no task texts; give the digest of each text")
        return cls(name, support, tuple(map(text_digest, support.texts)), pack)

    @property
    def keys(self) -> list[TaskKey]:
        """(n,) which task and skill each row is about."""
        return list(zip(self.digests, self.support.skills.tolist(), strict=True))
