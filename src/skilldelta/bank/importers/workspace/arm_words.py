"""What people and language models call the two arms: with_skill, baseline, no-skill, treatment, skill_off and their like.

A name is sure where it can mean nothing else. Words such as `on` or `skill`, and names with something else in them, count only
where their counterpart stands in the same place elsewhere; `arm_of_name` says which of the two it is. An old and a new skill are
two versions that were both used, and no arm without.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

Meaning = Literal["use", "skip"]


class ArmName(NamedTuple):
    """What the name of an arm says."""

    meaning: Meaning
    version: str = ""
    """`old_skill`, or what stands in parentheses: `with_skill (iter4)` is of the version iter4."""
    is_sure: bool = True
    rest: str = ""
    """What else the name holds: `eval-3` of `eval-3-with_skill`."""


_SKILL = r"(?:skills?|plugins?)"
# At the beginning or the end of a name these are an arm, whatever the rest of it is.
_PHRASES: tuple[tuple[Meaning, str], ...] = (
    ("skip", rf"(?:without|no|wo|w_o|not_using|not_with|minus|sans)_(?:the_|any_|a_)?{_SKILL}"),
    ("skip", r"noskills?|withoutskills?|skill_?less|no_?skill_baseline|baseline_no_?skill|baseline_without_skill"),
    ("skip", rf"{_SKILL}_(?:off|disabled|absent|removed)"),
    ("use", rf"(?:with|using|use|w)_(?:the_|a_)?{_SKILL}"),
    ("use", rf"withskills?|{_SKILL}_(?:on|enabled|present|loaded)"),
)
# Alone they are an arm; inside a longer name they may be about anything (`control-plane-upgrade`).
_WORDS: dict[str, Meaning] = {
    **dict.fromkeys(("baseline", "baselines", "control", "ctrl", "vanilla", "bare", "unaided", "unassisted"), "skip"),
    **dict.fromkeys(("treatment", "treated", "skilled", "with_guidance"), "use"),
}
# Alone, and only where their opposite stands in the same place.
_WEAK_WORDS: dict[str, Meaning] = {
    **dict.fromkeys(("without", "off", "disabled", "base", "plain", "raw", "before", "none", "skip", "no"), "skip"),
    **dict.fromkeys(("with", "on", "enabled", "skill", "skills", "after", "use", "experimental", "experiment"), "use"),
}
_BESIDE_A_NAME: dict[str, Meaning] = {**_WORDS, "none": "skip", "skill": "use", "skills": "use"}
_AGE = r"old|new|previous|prev|current|original|updated|improved|optimized|revised|earlier|latest|candidate"
_VERSION = re.compile(rf"(?:{_AGE})_skill|skill_(?:{_AGE})|(?:with_)?skill_v_?\d+(?:_\d+)*|v_?\d+(?:_\d+)*_skill")
_FILLERS = re.compile(
    r"^(?:the|arm|group|condition|config|configuration|variant|mode)_|_(?:arm|group|runs?|results?|outputs?)$"
)
_PARENTHESES = re.compile(r"\A(.*?)\s*[(\[](.+)[)\]]\s*\Z", re.DOTALL)
_LONGEST = 80


@lru_cache(maxsize=8192)
def arm_of_name(name: str) -> ArmName | None:
    """The arm that a folder, a part of a file's name, a key or a value names; None where it names none.

    >>> arm_of_name("with_skill (iter4)")
    ArmName(meaning='use', version='iter4', is_sure=True, rest='')
    >>> arm_of_name("control-plane-upgrade") is None
    True
    """
    if len(name) > _LONGEST:
        return None
    version = ""
    if match := _PARENTHESES.match(name):
        name, version = match[1], match[2].strip()
    plain = plain_words(name)
    for _ in range(2):
        plain = _FILLERS.sub("", plain)
    if meaning := _WORDS.get(plain):
        return ArmName(meaning, version)
    if _VERSION.fullmatch(plain):
        return ArmName("use", version or name.strip())
    for meaning, phrase in _PHRASES:
        if re.fullmatch(phrase, plain):
            return ArmName(meaning, version)
    if meaning := _WEAK_WORDS.get(plain):
        return ArmName(meaning, version, is_sure=False)
    for meaning, phrase in _PHRASES:
        # with_skill_iter2 is of the version iter2.
        if match := re.fullmatch(rf"(?:{phrase})_((?:iteration|iter|round|version|v)_\d+)", plain):
            return ArmName(meaning, version or match[1].replace("_", ""))
    for meaning, phrase in _PHRASES:
        if match := re.match(rf"(?:{phrase})_(.+)", plain) or re.fullmatch(rf"(.+?)_(?:{phrase})", plain):
            return ArmName(meaning, version, is_sure=False, rest=match[1])
    for word, meaning in _WORDS.items():
        if plain.startswith(f"{word}_") or plain.endswith(f"_{word}"):
            rest = plain.removeprefix(f"{word}_").removesuffix(f"_{word}")
            # Anything but a number or a task's id behind it is a subject, not an arm: control-plane, baseline-report.
            if re.fullmatch(r"(?:eval|case|test|task|run|trial|rep)?_?\d+(?:_\w+)?", rest):
                return ArmName(meaning, version, is_sure=False, rest=rest)
    return None


@lru_cache(maxsize=8192)
def possible_arm(name: str) -> ArmName | None:
    """The arm in a name with an evaluation's name before or behind it, which only its counterpart makes certain.

    >>> possible_arm("alpha-baseline")
    ArmName(meaning='skip', version='', is_sure=False, rest='alpha')
    """
    plain = plain_words(name) if len(name) <= _LONGEST else ""
    for word, meaning in _BESIDE_A_NAME.items():
        for rest in (plain.removeprefix(f"{word}_"), plain.removesuffix(f"_{word}")):
            if rest != plain and rest:
                return ArmName(meaning, is_sure=False, rest=rest)
    return None


@lru_cache(maxsize=1 << 15)
def plain_words(name: str) -> str:
    """A name in lower case with one underscore between words: `withSkill`, `With Skill` and `with-skill` are one.

    >>> plain_words("withSkill v2")
    'with_skill_v_2'
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return "_".join(re.findall(r"[^\W\d_]+|\d+", spaced.lower()))
