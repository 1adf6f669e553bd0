"""Deciding among many skills: which of them a task is about, if any, and whether a message is a task at all.

The paper supposes that somebody supplies the applicable skill. In a harness nobody does: `Applicability` judges all
recorded skills together, with *none* as a full competitor, before any gate is asked for a gain. Nothing is imported here: a hook that asks whether a message is a task does
not wait for arrays.
"""
