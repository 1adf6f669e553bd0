"""Attacks on every surface: `make attack` runs them all and writes their table into docs/threat-model.md.

Each file holds the attacks of one surface. They reach processes on this machine only, are bounded in number and time, and
come from fixed seeds. `make test` runs a few tries of each.
"""
