"""The documentation site: `python -m docsite`, or `make docs`. Not part of the package.

The pages are the Markdown files of this repository. What can be generated (the commands, the public Python names, the
import rule) is generated when the site is built, so that it cannot go stale.
"""
