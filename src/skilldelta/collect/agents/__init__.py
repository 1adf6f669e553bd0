"""Agents that a collection can run: chat endpoints, Inspect AI's models, solvers and agents, command lines."""
