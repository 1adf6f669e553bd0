"""Evidence of other agents: the door that it comes through, and what it says about a task. No gate uses it yet."""

from skilldelta.estimators.borrowing.others_evidence import Borrowed, OthersEvidence
from skilldelta.estimators.borrowing.sources import EvidenceSource

__all__ = ["Borrowed", "EvidenceSource", "OthersEvidence"]
