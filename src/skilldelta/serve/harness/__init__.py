"""Agent harnesses on this machine: their settings files, what SkillDelta puts into them, and whether it works."""
