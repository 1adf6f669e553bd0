"""Adapters for Python agent frameworks: each asks a `SkillGate` once per conversation and places the skill's text."""
