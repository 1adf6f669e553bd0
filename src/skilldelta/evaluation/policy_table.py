"""The table of policies under its first name; it is `skilldelta.estimators.registry`."""

from skilldelta.estimators.registry import Colors, PolicyEntry, policies, policy_entry, policy_words

__all__ = ["Colors", "PolicyEntry", "policies", "policy_entry", "policy_words"]
