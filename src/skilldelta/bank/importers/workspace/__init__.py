"""Skill workspaces as people and language models write them: one reader for every dialect.

`reading` is the way in. `loose_json` parses, `arm_words` knows what arms are called, `gradings` finds verdicts in a document,
`clues` says whose they are, `runs` joins what belongs together, `versions` orders the versions of a skill.
"""
