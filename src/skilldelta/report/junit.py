"""Outcomes as JUnit XML, which every CI system shows: a failure fails, missing evidence is skipped or, if asked, fails."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from skilldelta.evaluation.gain_checks import CheckOutcome

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class JUnitCase:
    """One check of one skill."""

    group: str
    name: str
    outcome: CheckOutcome
    message: str


def junit_xml(cases: Sequence[JUnitCase], *, fail_on_too_little: bool = False) -> str:
    """A document with one suite; names that come from others are plain text in it."""
    failing = {"fail", "not enough evidence"} if fail_on_too_little else {"fail"}
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.outcome in failing for case in cases)),
        "errors": "0",
        "skipped": str(sum(case.outcome == "not enough evidence" and case.outcome not in failing for case in cases)),
    }
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "skilldelta check", **counts})
    for case in cases:
        element = ElementTree.SubElement(suite, "testcase", {"classname": _xml(case.group), "name": _xml(case.name)})
        if case.outcome in failing:
            failure = ElementTree.SubElement(element, "failure", {"type": case.outcome, "message": _xml(case.message)})
            failure.text = _xml(case.message)
        elif case.outcome == "not enough evidence":
            ElementTree.SubElement(element, "skipped", {"message": _xml(case.message)})
        else:
            ElementTree.SubElement(element, "system-out").text = _xml(case.message)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _xml(text: str) -> str:
    """The text without the characters that no XML document may hold."""
    return _NOT_XML.sub("\ufffd", text)
