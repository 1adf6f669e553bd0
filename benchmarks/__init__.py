"""Speed and memory of SkillDelta itself, as ratios measured within one run."""
