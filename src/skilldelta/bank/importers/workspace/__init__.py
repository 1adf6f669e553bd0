"""Skill workspaces as people and language models write them: one reader for every dialect.

`workspace_reading` is the way in. `workspace_files` reads each file once and sorts it. `gradings` finds graded runs in a
document, with the verdicts that `assertions` knows; `clues` says whose they are, with `arm_words` for arms, `path_words` for
files and folders and `spending` for tokens and time. `runs` makes a `graded_run` of each; `iterations`, `skill_names`,
`evaluations` and `repeats` join what belongs together, and `versions` orders the versions of a skill.
"""
