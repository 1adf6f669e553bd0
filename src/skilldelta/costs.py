"""What using a skill costs in tokens and dollars, and the rule that weighs the gain against it."""
