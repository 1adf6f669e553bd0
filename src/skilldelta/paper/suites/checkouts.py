"""The authors' and benchmarks' public checkouts, read as text: prompts, examples, observations, the self-judge's wording.

Nothing of them is imported or run. A text is found by the name of the function, class or constant around it in the parsed
source; texts that Python joins are one, and of an f-string the named fields stay as places to be filled. What is not where
it is expected is named with file and symbol.
"""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skilldelta.errors import InputError
from skilldelta.files import json_document, read_text

# The repositories by the names that this page and its messages use, and the commits that the authors pin.
REPOSITORIES: Mapping[str, tuple[str, str]] = {
    "SR-Agents": ("github.com/oneal2000/SR-Agents", "277fd8d2bbd7d3b81a5cf4ffa6e87e18c7906e4f"),
    "SkillOpt": ("github.com/microsoft/SkillOpt", "0389ace56339988e16ca5ddab36f0978776fe9b0"),
    "skilldelta": ("github.com/TankTechnology/skilldelta", "bc6c11acdbb487c321e3a50b33a94067143c436f"),
}
# Files and folders that tell which repository a folder is a checkout of. A folder stands for files that another commit moved.
_MARKS = {
    "SR-Agents": ("src/sragents", "data/bench/instances"),
    "SkillOpt": ("skillopt/envs",),
    "skilldelta": ("configs/self_judge_prompt.json", "experiments/run_sra_toolqa.py"),
}
# What of a study rests on a file, by the beginning of its place; the rest is the same as the paper's without it.
_AFFECTED = {
    "SR-Agents/src/sragents/prompts.py": "every figure",
    "SR-Agents/src/sragents/": "ToolQA's figures",
    "SR-Agents/data/bench/corpus/": "figures of the arm with the skill, and gains",
    "SR-Agents/data/bench/instances/": "every figure",
    "SkillOpt/ckpt/": "SpreadsheetBench's figures of the arm with the skill, and gains",
    "SkillOpt/": "SpreadsheetBench's figures",
    "skilldelta/configs/": "the self-judge's figures",
    "skilldelta/experiments/": "ToolQA's figures with the compact example",
}
# SHA-256 of files as the authors pin them, or as they were when the rules of this module were written.
_DIGESTS: Mapping[str, str] = {
    "data/bench/corpus/corpus.json": "16ee509ae5bea8c2e17167dffecd89100a7d8dfa31256c3742426758c7169b5e",
    "data/bench/instances/toolqa.json": "e41eb4d4b67c1dd8e1178c88e9e8ff15525b31803694e9459d115c274fb04f0e",
    "data/bench/instances/medcalcbench.json": "814f6b082f56cf89dd9c50be7ab87b5bcb0e41633138951e42b38d6923c3244e",
    "data/bench/instances/logicbench.json": "af5055caac041ea08cee47622f5d922b47b2ba0a8e3a60b87349599eeff1bdfe",
    "data/bench/instances/bigcodebench.json": "0ed01363e2c93134cf8696fea47b6d640f32f0d7ae9d7b478a05595c3f5ae788",
    "configs/self_judge_prompt.json": "59d1ec35e973405fc8cc62876abe83c579d182d7961e81fdcf9c55e04af4bad5",
    "src/sragents/prompts.py": "b88112116dc89d5991ed7b32f1f7dba5866a5ad665e2587d20a6f45297a365a0",
    "src/sragents/toolqa/prompts.py": "ce89098dde4e444c7bbf882b41025eaa0471de90aecc5bc6123b5e42a569fdcc",
    "src/sragents/toolqa/fewshots.py": "e64d6c4d51bfd35e8eb2d2099a09355e912fffe658f6cf6da8d34e2f95688660",
    "src/sragents/infer/engines/react.py": "c370836f774cfe6e2229637c3c40b500744497c124cf4ee14fa0114c60832b3e",
    "src/sragents/toolqa/tools/__init__.py": "a10569508b642aa46cf5d7841c423f8cbd6ae6f1d17b0501ae54825fc575744a",
    "src/sragents/toolqa/tools/table.py": "4647a90a0b1a72423aa8e2c2918b22e557cdcfda95055fa50df7c7b94dc40b39",
    "skillopt/envs/spreadsheetbench/prompts/codegen_system.md": (
        "a8b561ebd38fc384035cd7e9210ad679e6f84ad581233f0d51a2086e96f690b4"
    ),
    "ckpt/spreadsheetbench/gpt5.5_skill.md": "82249a54bba13550aa87dcc84087728ebb176d753c95bc09e6b9c49f30942892",
}
_PROMPTS = "src/sragents/prompts.py"
_TOOLS = "src/sragents/toolqa/tools"


@dataclass(slots=True)
class Checkouts:
    """The folders that a person has, by repository, and a record of every file that was read from them."""

    folders: Mapping[str, Path]
    digests: dict[str, str] = field(default_factory=dict)
    """SHA-256 of every file that was read, by repository and path."""

    @property
    def commits(self) -> dict[str, str]:
        """The commit of each checkout, as far as git knows it."""
        return {name: commit for name, folder in self.folders.items() if (commit := _commit(folder))}

    def notes(self) -> list[str]:
        """What differs from the authors' pinned commits and digests, each in one line."""
        notes = []
        for name, commit in self.commits.items():
            if commit != REPOSITORIES[name][1]:
                notes.append(
                    f"{name} is at commit {commit[:12]}, the authors pin {REPOSITORIES[name][1][:12]}: prompts and tasks "
                    "may differ from those of the paper's tables"
                )
        for place, digest in self.digests.items():
            path = place.partition("/")[2]
            if path in _DIGESTS and digest != _DIGESTS[path]:
                notes.append(
                    f"{place} is not the file that the protocol was written from (SHA-256 {digest[:12]}, not "
                    f"{_DIGESTS[path][:12]}): {_affected(place)} can be compared with the paper's only as far as it is the same"
                )
        return notes

    def path(self, repository: str, *places: str) -> Path:
        """The first of the places that is there; none of them is an InputError that says where to get it."""
        address, commit = REPOSITORIES[repository]
        remedy = f"clone {address} at commit {commit[:12]} and name its folder with --from. It decides "
        remedy += (
            f"{_affected(f'{repository}/{places[0]}')}: with --protocol plain, which does without it, these cannot be compared "
            "with the paper's"
        )
        folder = self.folders.get(repository)
        if folder is None:
            raise InputError(f"the authors' protocol needs {places[0]} of {repository}; {remedy}")
        for place in places:
            if (folder / place).is_file():
                with (folder / place).open("rb") as file:
                    self.digests[f"{repository}/{place}"] = hashlib.file_digest(file, "sha256").hexdigest()
                return folder / place
        raise InputError(f"{folder / places[0]} is missing; {remedy}")

    def source(self, repository: str, place: str) -> ParsedSource:
        """A Python file, parsed."""
        path = self.path(repository, place)
        try:
            return ParsedSource(path, ast.parse(read_text(path)))
        except (SyntaxError, ValueError) as error:
            raise InputError(f"{path}: this is no Python that can be read ({error})") from None


def _affected(place: str) -> str:
    return next(words for start, words in _AFFECTED.items() if place.startswith(start))


def find_checkouts(folders: Iterable[Path]) -> Checkouts:
    """Which repository each folder is a checkout of; folders of checkouts are looked into, others are none."""
    found: dict[str, Path] = {}
    for folder in folders:
        inside = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
        for candidate in (folder, *inside):
            for name, marks in _MARKS.items():
                if name not in found and any((candidate / mark).exists() for mark in marks):
                    found[name] = candidate
    return Checkouts(found)


@dataclass(frozen=True, slots=True)
class ParsedSource:
    """A parsed file in which texts are looked up by the names around them."""

    path: Path
    tree: ast.AST

    def missing(self, what: str) -> InputError:
        return InputError(
            f"{self.path}: {what} is not there; take the pinned commit. --protocol plain does without, and its figures cannot "
            "be compared with the paper's"
        )

    def constant(self, name: str) -> str:
        """The text that a module assigns to a name."""
        return self.text(self.assigned(self.tree, name), name)

    def function(self, name: str, within: str = "") -> ast.FunctionDef:
        """A function by its name, or the one with a decorator that is called with this text."""
        root: ast.AST = self.tree
        if within:
            classes = [node for node in ast.walk(root) if isinstance(node, ast.ClassDef) and node.name == within]
            if not classes:
                raise self.missing(f"class {within}")
            root = classes[0]
        for node in ast.walk(root):
            if isinstance(node, ast.FunctionDef) and (node.name == name or name in _decorator_texts(node)):
                return node
        raise self.missing(f"function {within + '.' if within else ''}{name}")

    def assigned(self, root: ast.AST, name: str, *, added: bool = False) -> list[ast.expr]:
        """What is assigned to a name, or added to it, in the order of the source."""
        values: list[tuple[int, ast.expr]] = []
        for node in ast.walk(root):
            if isinstance(node, ast.Assign) and not added and any(_is_name(target, name) for target in node.targets):
                values.append((node.lineno, node.value))
            if isinstance(node, ast.AugAssign) and added and _is_name(node.target, name):
                values.append((node.lineno, node.value))
        return [value for _, value in sorted(values, key=lambda pair: pair[0])]

    def text(self, candidates: list[ast.expr], what: str, *fields: str, place: int = 0) -> str:
        """One of the candidates as a text in which the named fields are places; another expression is refused."""
        texts = [value for value in candidates if isinstance(value, ast.JoinedStr | ast.Constant | ast.BinOp)]
        if len(texts) <= place:
            raise self.missing(what)
        return self._written(texts[place], what, fields)

    def _written(self, value: ast.expr, what: str, fields: tuple[str, ...]) -> str:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            return self._written(value.left, what, fields) + self._written(value.right, what, fields)
        if isinstance(value, ast.JoinedStr):
            return "".join(self._written(part, what, fields) for part in value.values)
        if isinstance(value, ast.FormattedValue):
            expression = ast.unparse(value.value)
            if expression not in fields or value.format_spec is not None or value.conversion != -1:
                raise InputError(
                    f"{self.path}: {what} has an unexpected field {{{expression}}}; is this another version?"
                )
            return f"{{{expression}}}"
        raise self.missing(what)


def returned(root: ast.AST) -> list[ast.expr]:
    """What a function returns, in the order of the source."""
    nodes = [node for node in ast.walk(root) if isinstance(node, ast.Return) and node.value is not None]
    return [node.value for node in sorted(nodes, key=lambda node: node.lineno) if node.value is not None]


@dataclass(frozen=True, slots=True)
class SkillJoining:
    """How skills stand before a task: the user's message with {skill} and {task}, and what separates several."""

    skill_prompt: str
    separator: str


def read_joining(checkouts: Checkouts) -> SkillJoining:
    """The heading and the separator of SR-Agents."""
    source = checkouts.source("SR-Agents", _PROMPTS)
    function = source.function("build_prompt")
    separators = [
        node.func.value.value
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "join"
        and isinstance(node.func.value, ast.Constant)
    ]
    if not separators or not isinstance(separators[0], str):
        raise source.missing("the separator of skills in build_prompt")
    texts = [value for value in source.assigned(function, "user") if isinstance(value, ast.JoinedStr)]
    user = source.text(list(texts), "the user text of build_prompt", "skill_block", "user")
    return SkillJoining(user.replace("{skill_block}", "{skill}").replace("{user}", "{task}"), separators[0])


def read_medcalc(checkouts: Checkouts) -> tuple[str, str]:
    """The system message and the prompt with {task} of MedCalc-Bench."""
    source = checkouts.source("SR-Agents", _PROMPTS)
    function = source.function("medcalcbench")
    system = source.text(source.assigned(function, "system"), "the system message of medcalcbench")
    user = source.text(source.assigned(function, "user"), "the user message of medcalcbench", "instance['question']")
    return system, user.replace("{instance['question']}", "{task}")


@dataclass(frozen=True, slots=True)
class ToolqaTexts:
    """What ToolQA's agent is told, without the examples."""

    system: str
    prompt: str
    """With {task} in it."""
    frame: str
    sentences: Mapping[str, str]


def read_toolqa(checkouts: Checkouts) -> ToolqaTexts:
    """The instruction, the label of the question, the frame of a request and every observation."""
    prompts = checkouts.source("SR-Agents", _PROMPTS)
    tuples = [value for value in returned(prompts.function("toolqa")) if isinstance(value, ast.Tuple)]
    if not tuples or len(tuples[0].elts) != 2:
        raise prompts.missing("the returned pair of toolqa")
    label = prompts.text([tuples[0].elts[1]], "the label of a question", "instance['question']")
    system = checkouts.source("SR-Agents", "src/sragents/toolqa/prompts.py").constant("REACT_INSTRUCTION")
    engine = checkouts.source("SR-Agents", "src/sragents/infer/engines/react.py")
    build = engine.function("_build_prompt", "ReActAgent")
    fields = ("self.examples", "base_user", "self.scratchpad", "self.step_n")
    frame = engine.text(engine.assigned(build, "user"), "the frame in ReActAgent._build_prompt", *fields)
    for name in ("examples", "scratchpad", "step_n"):
        frame = frame.replace(f"{{self.{name}}}", f"{{{name}}}")
    return ToolqaTexts(system, label.replace("{instance['question']}", "{task}"), frame, _sentences(checkouts, engine))


def read_examples(checkouts: Checkouts, profile: str) -> str:
    """ToolQA's few-shot examples: the benchmark's eleven (`official`), or the one in the authors' runner (`compact`)."""
    if profile == "compact":
        return checkouts.source("skilldelta", "experiments/run_sra_toolqa.py").constant("COMPACT_FORMAT_EXAMPLE")
    source = checkouts.source("SR-Agents", "src/sragents/toolqa/fewshots.py")
    return f"{source.constant('TOOLQA_EASY8')}\n{source.constant('TOOLQA_HARD3')}"


def _sentences(checkouts: Checkouts, engine: ParsedSource) -> dict[str, str]:
    step = engine.function("_step", "ReActAgent")
    constants = [value for value in engine.assigned(step, "self.scratchpad", added=True) if _is_constant(value)]
    cut = engine.text(
        [node for node in ast.walk(engine.function("_truncate_obs", "ReActAgent")) if isinstance(node, ast.JoinedStr)],
        "the note of a cut observation",
        "len(obs)",
    )
    tools = checkouts.source("SR-Agents", f"{_TOOLS}/__init__.py")
    execute = tools.function("execute", "ToolEnvironment")
    first_try = min((node.lineno for node in ast.walk(execute) if isinstance(node, ast.Try)), default=10**9)
    early = [value for value in returned(execute) if value.lineno < first_try]
    table = checkouts.source("SR-Agents", f"{_TOOLS}/table.py")
    graph = checkouts.source("SR-Agents", f"{_TOOLS}/graph.py")
    code = checkouts.source("SR-Agents", f"{_TOOLS}/code.py")
    filters = table.function("filter_db")
    handlers = [node for node in ast.walk(filters) if isinstance(node, ast.ExceptHandler)]
    loops = [node for node in ast.walk(filters) if isinstance(node, ast.For)]
    tries = [node for loop in loops for node in ast.walk(loop) if isinstance(node, ast.Try)]
    if not handlers or not tries:
        raise table.missing("the loop over conditions in filter_db")
    failed = returned(handlers[0])
    empty = [value for node in tries[0].body for value in returned(node)]
    inside = {id(value) for value in (*failed, *empty)}
    after = [value for value in returned(filters) if id(value) not in inside]
    loaded = returned(table.function("load_db"))
    sentences = {
        "no_action": engine.text(constants, "the observation of a missing action"),
        "cut": cut,
        "empty_action": tools.text(early, "the observation of an empty action"),
        "several_actions": tools.text(early, "the observation of several actions", place=1),
        "invalid_action": tools.text(early, "the observation of an invalid action", place=2),
        "db_loaded": table.text(loaded, "the observation of load_db", "target_db", "column_names"),
        "filter_empty": table.text(empty, "the observation of a filter that leaves nothing", "cmd"),
        "filter_failed": table.text(failed, "the observation of a filter that fails", "cmd"),
        "filtered": table.text(after, "the observation of a filter", "current_length"),
        "graph_loaded": graph.text(returned(graph.function("load_graph")), "the observation of load_graph"),
        "sql_done": code.text(returned(code.function("sql_interpret")), "the observation of a statement without rows"),
    }
    errors = _error_sentences(tools)
    names = {
        "Calculate": ("formula_error",),
        "RetrieveAgenda": ("agenda_error",),
        "RetrieveScirex": ("scirex_error",),
        "LoadDB": ("db_unknown",),
        "FilterDB": ("filter_error",),
        "GetValue": ("value_missing",),
        "LoadGraph": ("graph_unknown",),
        "NeighbourCheck": ("neighbour_error",),
        "NodeCheck": ("node_missing", "node_error"),
        "EdgeCheck": ("edge_missing", "edge_error"),
        "SQLInterpreter": ("sql_error",),
        "PythonInterpreter": ("python_error",),
    }
    for action, outcomes in names.items():
        for place, outcome in enumerate(outcomes):
            sentences[outcome] = tools.text(errors.get(action, []), f"error {place + 1} of {action}", "e", place=place)
    return sentences


def _error_sentences(tools: ParsedSource) -> dict[str, list[ast.expr]]:
    """What each branch of the dispatcher returns from its exception handlers, in order."""
    branches: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tools.function("_dispatch", "ToolEnvironment")):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and _is_name(node.test.left, "action_type"):
            compared = node.test.comparators[0]
            if isinstance(compared, ast.Constant):
                handlers = [
                    handler
                    for child in node.body
                    for handler in ast.walk(child)
                    if isinstance(handler, ast.ExceptHandler)
                ]
                handlers.sort(key=lambda handler: handler.lineno)
                branches[str(compared.value)] = [value for handler in handlers for value in returned(handler)]
    return branches


@dataclass(frozen=True, slots=True)
class SpreadsheetTexts:
    """SpreadsheetBench's wording; the extras are there only where a task has what they name."""

    system: str
    skill_system: str
    """With {skill} in it."""
    user: str
    """With {instruction}, {extra} and {preview} in it."""
    type_line: str
    position_line: str

    def request(self, instruction: str, kind: str, position: str, preview: str) -> str:
        """The user's message of one task."""
        extra = self.type_line.replace("{instruction_type}", kind) if kind else ""
        extra += self.position_line.replace("{answer_position}", position) if position else ""
        fields = {"instruction": instruction, "extra": extra, "preview": preview}
        # Filled in one pass, since an instruction or a cell may hold braces of its own.
        return re.sub(r"\{(instruction|extra|preview)\}", lambda place: fields[place[1]], self.user)


def read_spreadsheet(checkouts: Checkouts) -> SpreadsheetTexts:
    """The system file, how the skill is added to it, and the user's message."""
    place = "skillopt/envs/spreadsheetbench"
    system = checkouts.path("SkillOpt", f"{place}/prompts/codegen_system.md", "skillopt/prompts/codegen_system.md")
    source = checkouts.source("SkillOpt", f"{place}/codegen_agent.py")
    build = source.function("_build_system")
    added = source.assigned(build, "base", added=True)
    skill = source.text(added, "the skill in _build_system", "skill_content.strip()")
    function = source.function("_build_user")
    extras = source.assigned(function, "extra", added=True)
    suffix = source.text(source.assigned(function, "task_suffix"), "the first task_suffix in _build_user")
    fields = ("prefix", "instruction", "extra", "preview", "task_suffix", "diagnostic")
    user = source.text(returned(function), "the text that _build_user returns", *fields)
    user = user.replace("{prefix}", "").replace("{diagnostic}", "").replace("{task_suffix}", suffix)
    return SpreadsheetTexts(
        system=system.read_bytes().decode("utf-8"),
        skill_system=skill.replace("{skill_content.strip()}", "{skill}"),
        user=user,
        type_line=source.text(extras, "the line of the type in _build_user", "instruction_type"),
        position_line=source.text(extras, "the line of the position in _build_user", "answer_position", place=1),
    )


def read_self_judge(checkouts: Checkouts) -> dict[str, str] | None:
    """The self-judge's two messages, the user's with {question} and {skills}; None without the authors' checkout."""
    if "skilldelta" not in checkouts.folders:
        return None
    path = checkouts.path("skilldelta", "configs/self_judge_prompt.json")
    document = json_document(path)
    system, user = document.get("system"), document.get("user_template")
    if not isinstance(system, str) or not isinstance(user, str) or "{question}" not in user or "{skills}" not in user:
        raise InputError(f"{path}: system and user_template with {{question}} and {{skills}} are not there")
    return {"system": system, "user": user}


def _decorator_texts(node: ast.FunctionDef) -> set[str]:
    return {
        argument.value
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call)
        for argument in decorator.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) == name


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _commit(folder: Path) -> str:
    """The commit that a checkout is at; empty where it is no git folder or git is not there."""
    if not (folder / ".git").exists():
        return ""
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""
