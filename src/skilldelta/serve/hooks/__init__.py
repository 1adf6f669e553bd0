"""Hooks of agent harnesses: an event on standard input, an answer in the harness's dialect on standard output.

A hook runs before every prompt, so what it imports is what people wait for: these files use the standard library only,
named tuples in place of dataclasses, and load the predictor only where no server answers.
"""
