"""A command-line harness as an agent to collect with: both arms run with the adapter that is deployed.

Every execution has a home of its own, so nothing that one run leaves behind reaches another. The adapter is installed
into that home as `skilldelta install` would, and asks a server that answers with the execution's arm. A run in which the
adapter did not ask is incomplete: its arm is not known.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilldelta.collect.agents.base import Attempt, Outcome, fingerprint
from skilldelta.collect.agents.program_agent import ProgramAgent
from skilldelta.collect.arms import Message
from skilldelta.collect.execution_errors import IncompleteError
from skilldelta.collect.workspace import remove_tree, write_below
from skilldelta.errors import InputError
from skilldelta.harnesses.forced_arm import ForcedArm, forced_arm
from skilldelta.harnesses.harness import Harness, Permission, Recipe, Reply
from skilldelta.harnesses.installation import planned_changes
from skilldelta.harnesses.offered_skill import OfferedSkill
from skilldelta.harnesses.skill_usage import loaded_skill
from skilldelta.harnesses.wanted_setup import WantedSetup
from skilldelta.records import LISTED, Agent

# Bytes. Linux refuses a single argument of 128 KiB.
_LONGEST_ARGUMENT = 120_000
_ADAPTER_SECONDS = 10.0
_STATE = ".local/state"


@dataclass(slots=True)
class HarnessAgent(ProgramAgent):
    """Runs a harness that is installed on this machine, with the rights of the person who collects."""

    harness: Harness
    command: tuple[str, ...]
    """The words that start `skilldelta`, for the hooks."""
    model: str = ""
    permission: Permission = "default"
    home: Path | None = None
    """A folder that is copied as every run's home: settings and logins of the harness."""
    name: str = ""
    skills: Path | None = None
    """The suite's folder of skills, for the arm in which the harness lists them."""

    def __post_init__(self) -> None:
        if self.harness.recipe is None:
            raise InputError(f"{self.harness.name} does not say how it runs a task without a person; use --command")
        if self.permission not in self.recipe.permissions:
            choices = ", ".join(self.recipe.permissions)
            raise InputError(f"{self.harness.name} has no permission mode {self.permission!r}; it has: {choices}")
        if self.model and not self.recipe.model_option:
            raise InputError(
                f"{self.harness.name} takes no model on its command line; put it into its settings, with --agent-home"
            )
        if self.home is not None and not self.home.is_dir():
            raise InputError(f"{self.home} is not a folder; --agent-home names one with the harness's settings")
        self.find_program(self.harness.program)

    @property
    def recipe(self) -> Recipe:
        """How this harness is run."""
        assert self.harness.recipe is not None
        return self.harness.recipe

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "program": self.harness.name,
            "harness": self.version,
            "model": self.model,
            "permission": self.permission,
            "words": list(self.recipe.words),
            "skill_as": "adapter",
        }

    @property
    def identity(self) -> Agent:
        name = self.name or (f"{self.harness.name}/{self.model}" if self.model else self.harness.name)
        return Agent(name, fingerprint(self.settings))

    async def execution(self, attempt: Attempt, workdir: Path) -> Outcome:
        if attempt.planned.condition == LISTED:
            return await self._listed(attempt, workdir)
        with forced_arm(attempt.planned.condition, attempt.skill_text) as arm:
            home = self._furnished_home(workdir.parent / "home", attempt, arm)
            printed = await self._answered(attempt.question, workdir, home)
        if not arm.asked:
            raise IncompleteError(
                f"the adapter in {self.harness.name} did not ask, so the skill was not placed; is it enabled?"
            )
        reply = self._read(printed)
        return _outcome(attempt, printed, reply, arm.tokens if reply.tokens is None else reply.tokens)

    async def _listed(self, attempt: Attempt, workdir: Path) -> Outcome:
        """The harness without SkillDelta: the skill lies in its folder, and the model chooses."""
        home = self._person_home(workdir.parent / "home")
        folder = self.harness.folder(home, self._variables(home))
        skills = attempt.planned.task.skill_id.split("+")
        for skill in skills:
            _remove_skill(home, folder, skill)
            if self.skills is None or not (self.skills / skill).is_dir():
                raise IncompleteError(f"the suite has no folder of the skill {skill!r} that the harness could list")
            shutil.copytree(self.skills / skill, folder / "skills" / skill)
        printed = await self._answered(attempt.question, workdir, home)
        reply = self._read(printed)
        loaded = loaded_skill(self.harness.name, folder, printed, skills)
        return _outcome(attempt, printed, reply, reply.tokens, loaded=loaded)

    def _read(self, printed: str) -> Reply:
        """What the harness said; an output of another shape, such as that of another version, says nothing."""
        try:
            return self.recipe.read(printed)
        except ValueError as error:
            raise IncompleteError(str(error)) from None
        except (AttributeError, KeyError, TypeError) as error:
            raise IncompleteError(
                f"the output of {self.harness.name} is not understood ({error}): {printed[-160:]!r}"
            ) from None

    def _furnished_home(self, home: Path, attempt: Attempt, arm: ForcedArm) -> Path:
        """A new home with the person's settings, the skill's file and the adapter.

        Where the person has the skill too, the use arm lists it, as it would be deployed, and the skip arm does not.
        """
        home = self._person_home(home)
        folder = self.harness.folder(home, self._variables(home))
        if attempt.planned.condition == "skip":
            for name in attempt.planned.task.skill_id.split("+"):
                _remove_skill(home, folder, name)
        key = home / _STATE / "skilldelta" / "server-key"
        key.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        key.unlink(missing_ok=True)
        with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
            opened.write(arm.key)
        skill = attempt.planned.task.skill_id
        file = f"skilldelta/{_folder_name(skill)}/SKILL.md"
        write_below(
            home, file, f"---\nname: {skill}\ndescription: The skill on offer.\n---\n\n{attempt.skill_text or '-'}\n"
        )
        setup = WantedSetup(
            self.command,
            (OfferedSkill(skill, home / file),),
            {"server": arm.url, "timeout": f"{_ADAPTER_SECONDS:g}", "ask": "server"},
        )
        for change in planned_changes(self.harness, folder, setup):
            write_below(home, change.path.relative_to(home).as_posix(), (change.after or b"").decode())
        return home

    def _person_home(self, home: Path) -> Path:
        """A new home with the person's settings."""
        if self.home is None:
            home.mkdir(mode=0o700)
        else:
            shutil.copytree(self.home, home, symlinks=True)
        return home

    async def _answered(self, prompt: str, workdir: Path, home: Path) -> str:
        words = [*self.recipe.words, *self.recipe.permissions[self.permission]]
        if self.model:
            words += [self.recipe.model_option, self.model]
        is_argument = "{prompt}" in words
        if is_argument and len(prompt.encode("utf-8", "replace")) > _LONGEST_ARGUMENT:
            raise IncompleteError(
                f"{self.harness.name} takes the task as an argument, and this one is too long for one"
            )
        arguments = [self._program, *(prompt if word == "{prompt}" else word for word in words)]
        stdin = "" if is_argument else prompt
        return await self.printed(arguments, stdin, workdir, self._variables(home), called=self.harness.name)

    def _variables(self, home: Path) -> dict[str, str]:
        """The person's few variables, with the run's own home in place of theirs."""
        own = {name: value.format(home=home) for name, value in self.recipe.variables.items()}
        return {
            **self.environment,
            "HOME": os.fspath(home),
            "USERPROFILE": os.fspath(home),
            "XDG_STATE_HOME": os.fspath(home / _STATE),
            "SKILLDELTA_STATE": os.fspath(home / "skilldelta-state"),
            **own,
        }


def _outcome(
    attempt: Attempt, printed: str, reply: Reply, tokens: float | None, *, loaded: bool | None = None
) -> Outcome:
    details = {"model": reply.model} if reply.model else {}
    message = Message("user", attempt.question)
    return Outcome(reply.answer, tokens, reply.usd, (message,), printed, details=details, loaded=loaded)


def _remove_skill(home: Path, folder: Path, name: str) -> None:
    """Take a skill out of the folders of a run's home in which a harness looks for the user's skills."""
    for place in (folder / "skills", home / ".agents" / "skills", home / ".claude" / "skills"):
        if place.is_symlink():  # the person's own folder is behind it
            target = place.resolve()
            place.unlink()
            if target.is_dir():
                shutil.copytree(target, place, symlinks=True)
        if place.is_dir() and not place.resolve().is_relative_to(home.resolve()):
            raise IncompleteError(f"{place} leads out of the copied home through a link; put a real folder into it")
        path = place / _folder_name(name)
        if path.is_symlink():
            path.unlink()
        elif path.is_dir():
            remove_tree(path)


def _folder_name(skill: str) -> str:
    """A skill's name as a folder; a bundle's has characters that no folder should have."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in skill)[:64] or "skill"
