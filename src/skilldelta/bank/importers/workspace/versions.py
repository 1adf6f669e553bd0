"""The versions of a skill in a workspace: which there are, in which order, and which baseline each is compared with.

A version is what the files record, else the iteration. Their order is that of recorded times; numbers of folders decide only where
times agree with them, and where even so the newest is not clear, it is asked for. Runs without the skill serve every version;
where a version was graded on other assertions, both arms count on those that they share.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from skilldelta.bank.importers.workspace.assertions import Assertion
from skilldelta.bank.importers.workspace.graded_run import GradedRun

# Share of words that two wordings of one assertion have in common; a grader often types it anew.
_SAME_WORDS = 0.6


@dataclass(frozen=True, slots=True)
class VersionOrder:
    """The versions of one skill, oldest first."""

    names: tuple[str, ...]
    is_sure: bool
    """Whether recorded times say which is the newest."""
    by: str
    """What the order rests on, in words."""


def name_versions(runs: Sequence[GradedRun]) -> dict[int, str]:
    """The version of every run with the skill, by its identity: as recorded anywhere in its iteration, else the iteration."""
    recorded: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for run in runs:
        if run.meaning == "use" and run.version:
            recorded[run.skill, run.iteration].add(run.version)
    names = {}
    for run in runs:
        if run.meaning == "use":
            recorded_name = recorded[run.skill, run.iteration]
            names[id(run)] = run.version or (next(iter(recorded_name)) if len(recorded_name) == 1 else run.iteration)
    several = {run.skill for run in runs if run.meaning == "use" and names[id(run)]}
    for run in runs:
        # Beside an old_skill the runs with the skill are of a version, too, whose only name is their arm's.
        if run.meaning == "use" and not names[id(run)] and run.skill in several:
            names[id(run)] = run.arm
    return names


def order_versions(runs: Iterable[GradedRun], names: Mapping[int, str], newest: str) -> dict[str, VersionOrder]:
    """The order of each skill's versions; `newest` is what a person says."""
    times: defaultdict[str, dict[str, float | None]] = defaultdict(dict)
    tasks: defaultdict[str, Counter[str]] = defaultdict(Counter)
    counted: set[tuple[str, str, str]] = set()
    for run in runs:
        if run.meaning != "use" or run.has_unknown_arm:
            continue
        version = names[id(run)]
        time = times[run.skill].get(version)
        moment = max(filter(None, (time, run.time, _date_of(version))), default=None)
        times[run.skill][version] = moment
        if (run.skill, version, run.task) not in counted:
            counted.add((run.skill, version, run.task))
            tasks[run.skill][run.task] += 1
    return {
        skill: _ordered(times_of_skill, newest, max(tasks[skill].values())) for skill, times_of_skill in times.items()
    }


def _ordered(times: Mapping[str, float | None], newest: str, overlap: int) -> VersionOrder:
    names = list(times)
    if len(names) == 1:
        return VersionOrder(tuple(names), True, "there is one")
    if newest and newest in names:
        others = _ordered({name: time for name, time in times.items() if name != newest}, "", overlap)
        return VersionOrder((*others.names, newest), True, f"{newest} the newest as was said, the others {others.by}")
    ages = [_age(name) for name in names]
    if len(names) == 2 and sorted(ages) in ([-1, 0], [-1, 1], [0, 1]):
        ordered = sorted(names, key=_age)
        return VersionOrder(tuple(ordered), True, "as their names say")
    timed = [name for name in names if times[name] is not None]
    numbered = [name for name in names if _number(name) is not None]
    by_number = sorted(numbered, key=lambda name: _number(name) or 0)
    recorded = [times[name] or 0.0 for name in by_number if name in timed]
    numbers_agree = recorded == sorted(recorded)
    if len(timed) == len(names):
        ordered = sorted(names, key=lambda name: (times[name] or 0.0, _number(name) or 0))
        tied = [name for name in names if times[name] == times[ordered[-1]]]
        return VersionOrder(
            tuple(ordered), len(tied) == 1 or all(name in numbered for name in tied), "by recorded times"
        )
    if overlap == 1:
        ordered = sorted(names, key=lambda name: (times[name] or 0.0, _number(name) or 0, name))
        return VersionOrder(tuple(ordered), True, "each has tasks of its own")
    if numbers_agree and len(recorded) > 1:
        # Times confirm the numbers, so the numbers place what has no time; what has neither stays at the beginning.
        ordered = _merged(by_number, [name for name in timed if name not in numbered], times)
        ordered = [name for name in names if name not in ordered] + ordered
        last = by_number[-1]
        is_sure = ordered[-1] == last and len(ordered) == len(numbered)
        if not is_sure and last in timed:
            is_sure = len(ordered) == len({*timed, *numbered})
        return VersionOrder(
            tuple(ordered), is_sure, "by recorded times, and by their numbers where no time is recorded"
        )
    ordered = sorted(names, key=lambda name: (_number(name) is not None, _number(name) or 0, times[name] or 0.0))
    return VersionOrder(tuple(ordered), False, "by the numbers of the folders only: no times are recorded")


def _date_of(name: str) -> float | None:
    """The day that a folder is named after."""
    match = re.match(r"(\d{4})-?(\d\d)-?(\d\d)(?!\d)", name)
    try:
        return datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=UTC).timestamp() if match else None
    except ValueError:
        return None


def _age(name: str) -> int:
    """-1 for an old_skill, 1 for a new_skill, 0 for names that say nothing of the kind."""
    last = name.rpartition("/")[2].lower()
    if re.search(r"\b(?:old|previous|prev|original|earlier)\b", last.replace("_", " ").replace("-", " ")):
        return -1
    return int(
        bool(re.search(r"\b(?:new|updated|improved|latest|revised)\b", last.replace("_", " ").replace("-", " ")))
    )


def _merged(numbered: list[str], others: list[str], times: Mapping[str, float | None]) -> list[str]:
    merged = list(numbered)
    for name in sorted(others, key=lambda other: times[other] or 0.0):
        moment = times[name] or 0.0
        later = [
            at for at, version in enumerate(merged) if times[version] is not None and (times[version] or 0.0) <= moment
        ]
        merged.insert((later[-1] if later else -1) + 1, name)
    return merged


def _number(name: str) -> int | None:
    match = re.search(r"(\d+)\D*\Z", name)
    return int(match[1]) if match and re.match(r"[a-z]+[-_ ]?\d+\Z|\d+\Z", name.lower()) else None


# Which assertions both arms have


@dataclass(slots=True)
class Pairable:
    """The outcomes of one evaluation: per run, and per version where its baseline counts on fewer assertions."""

    outcomes: dict[int, float | None] = field(default_factory=dict)
    """Runs by identity."""
    own_baselines: dict[str, list[tuple[GradedRun, float]]] = field(default_factory=dict)
    """Versions to the baseline runs that only they are compared with, and their outcome."""
    incomparable: list[GradedRun] = field(default_factory=list)
    reduced: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Versions to the assertions that count and those that there are."""
    regraded: list[GradedRun] = field(default_factory=list)
    """Further gradings of baseline runs that count with another one."""
    reworded: int = 0
    """Versions whose two arms were graded in words too different to match."""


def pairable(runs: Sequence[GradedRun], names: Mapping[int, str]) -> Pairable:
    """The outcomes of one evaluation's runs, on the assertions that a version and its baseline share."""
    result = Pairable({id(run): run.outcome for run in runs})
    listed = [run for run in runs if run.assertions and all(assertion.key for assertion in run.assertions)]
    keys = _canonical(listed)
    skips = [run for run in listed if run.meaning == "skip"]
    by_version: defaultdict[str, list[GradedRun]] = defaultdict(list)
    for run in listed:
        if run.meaning == "use":
            by_version[names[id(run)]].append(run)
    sets = {id(run): frozenset(keys[id(run)]) for run in listed}
    if _regraded(skips) and len(skips) == sum(run.meaning == "skip" for run in runs):
        _compare_regraded(result, by_version, skips, sets, keys)
        return result
    if not skips or len(skips) != sum(run.meaning == "skip" for run in runs) or len(set(sets.values())) == 1:
        return result
    for version, uses in by_version.items():
        _compare_version(result, version, uses, skips, sets, keys, is_only=len(by_version) == 1)
    return result


def _regraded(skips: Sequence[GradedRun]) -> bool:
    """Whether a baseline run was graded again in another iteration, where its tokens and seconds stand once more."""
    return len(_once(skips, "")) < len(skips)


def _once(skips: Sequence[GradedRun], iteration: str) -> list[GradedRun]:
    """Each baseline run with one of its gradings: that of an iteration where there is one, else the last."""
    chosen: dict[object, GradedRun] = {}
    for run in skips:
        key: object = (*run.spent[:2], run.number) if run.spent.tokens and run.spent.seconds else id(run)
        if key in chosen and chosen[key].iteration == run.iteration:
            key = id(run)
        if key not in chosen or chosen[key].iteration != iteration:
            chosen[key] = run
    return list(chosen.values())


def _compare_regraded(
    result: Pairable,
    by_version: Mapping[str, Sequence[GradedRun]],
    skips: Sequence[GradedRun],
    sets: Mapping[int, frozenset[str]],
    keys: Mapping[int, Sequence[str]],
) -> None:
    """Compare each version with the grading of the baseline that was made with its own."""
    result.regraded += [run for run in skips if run not in _once(skips, "")]
    for version, uses in by_version.items():
        baselines = _once(skips, uses[0].iteration)
        _compare_version(result, version, uses, baselines, sets, keys, is_only=False)
        result.own_baselines.setdefault(version, [(run, run.outcome or 0.0) for run in baselines])


def _compare_version(
    result: Pairable,
    version: str,
    uses: Sequence[GradedRun],
    skips: Sequence[GradedRun],
    sets: Mapping[int, frozenset[str]],
    keys: Mapping[int, Sequence[str]],
    *,
    is_only: bool,
) -> None:
    wanted = frozenset.intersection(*(sets[id(run)] for run in uses))
    baselines = [run for run in skips if sets[id(run)] >= wanted]
    if not baselines:
        own = [run for run in skips if run.iteration == uses[0].iteration]
        baselines = own or list(skips)
    shared = wanted.intersection(*(sets[id(run)] for run in baselines))
    if not shared:
        result.incomparable += uses
        return
    own_place = all(run.iteration == uses[0].iteration for run in baselines)
    has_ids = all(assertion.has_id for run in (*uses, *baselines) for assertion in run.assertions)
    if own_place and not has_ids and 2 * len(shared) < min(len(sets[id(run)]) for run in (*uses, *baselines)):
        result.reworded += 1  # graded together, and only worded anew: each counts on its own assertions
        return
    is_plain = len(baselines) == len(skips) and all(sets[id(run)] == shared for run in (*uses, *skips))
    if is_plain:
        return
    most = max(len(sets[id(run)]) for run in (*uses, *baselines))
    if len(shared) < most:
        result.reduced[version] = (len(shared), most)
    for run in uses:
        result.outcomes[id(run)] = _share(run, keys[id(run)], shared)
    restricted = [(run, _share(run, keys[id(run)], shared)) for run in baselines]
    if is_only:
        for run, outcome in restricted:
            result.outcomes[id(run)] = outcome
        return
    if len(baselines) < len(skips) or any(outcome != result.outcomes[id(run)] for run, outcome in restricted):
        result.own_baselines[version] = restricted


def _share(run: GradedRun, keys: Sequence[str], shared: frozenset[str]) -> float:
    marks = [assertion.passed for assertion, key in zip(run.assertions, keys, strict=True) if key in shared]
    return sum(marks) / len(marks)


def _canonical(runs: Sequence[GradedRun]) -> dict[int, list[str]]:
    """The assertions of every run under one name each, though graders word them differently."""
    texts: list[str] = []
    words: dict[str, frozenset[str]] = {}
    keys: dict[int, list[str]] = {}
    for run in runs:
        own: list[str] = []
        for position, assertion in enumerate(run.assertions):
            key = _known_as(assertion, position, len(run.assertions), texts, words, set(own))
            if key not in words:
                texts.append(key)
                words[key] = frozenset(key.split())
            own.append(key)
        keys[id(run)] = own
    return keys


def _known_as(
    assertion: Assertion,
    position: int,
    length: int,
    texts: Sequence[str],
    words: Mapping[str, frozenset[str]],
    taken: set[str],
) -> str:
    if assertion.key in words or assertion.has_id:
        return assertion.key if assertion.key not in taken else f"{assertion.key} #{position}"
    own = frozenset(assertion.key.split())
    free = [key for key in texts if key not in taken]
    best = max(free, key=lambda key: len(own & words[key]) / max(1, len(own | words[key])), default="")
    if best and len(own & words[best]) / max(1, len(own | words[best])) >= _SAME_WORDS:
        return best
    # As many assertions in the same place of as long a list: the same one in other words.
    if position < len(texts) and length == len(texts) and texts[position] not in taken:
        return texts[position]
    return assertion.key
