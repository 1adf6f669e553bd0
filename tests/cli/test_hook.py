"""`skilldelta hook` as a harness starts it: options, streams, exit codes, the clock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from cli.conftest import Skilldelta
from serve.hooks.fake_gate import KEY, fake_gate, says
from skilldelta.cli.hook import command, hook_settings
from skilldelta.errors import InputError
from skilldelta.harnesses.offered_skill import OfferedSkill, Part

PROMPT = {"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": "convert seven miles to feet"}


def hook(folder: Path, *words: str, event: object = PROMPT, **variables: str) -> subprocess.CompletedProcess[str]:
    content = event if isinstance(event, str) else json.dumps(event)
    known = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "skilldelta", "hook", *words],
        input=content,
        capture_output=True,
        text=True,
        cwd=folder,
        env={
            **known,
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"),
            "SKILLDELTA_TIMEOUT": "30",
            "SKILLDELTA_SERVER_KEY": KEY,
            **variables,
        },
        timeout=60,
    )


def injected(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0
    return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])


def test_a_server_is_asked_and_its_answer_given(tmp_path: Path, options: Options) -> None:
    with fake_gate(says("use", skill_text="Count twice.")) as gate:
        done = hook(tmp_path, "codex", "--skill", "counting", "--server", gate.url)
    assert injected(done) == "Count twice."
    assert done.stderr == ""


def test_proxies_of_the_environment_are_not_asked(tmp_path: Path) -> None:
    proxy = dict.fromkeys(("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
    with fake_gate(says("use", skill_text="Count twice.")) as gate:
        words = ["claude-code", "--skill", "counting", "--ask", "server", "--server", gate.url]
        assert injected(hook(tmp_path, *words, **proxy)) == "Count twice."


def test_the_client_path_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys, os; os._exit = sys.exit\n"
        "from skilldelta.cli.entry import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = ('numpy', 'asyncio', 'rich', 'sqlalchemy', 'yaml', 'ssl', 'email', 'http.client', 'pydantic')\n"
        "print([name for name in heavy if name in sys.modules], file=sys.stderr)"
    )
    (tmp_path / "SKILL.md").write_text("Count twice.")
    with fake_gate(says("use")) as gate:
        words = ["hook", "codex", "--skill", "c", "--skill-file", "SKILL.md", "--server", gate.url, "--state", "state"]
        words += ["--timeout", "30"]
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            input=json.dumps(PROMPT),
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "SKILLDELTA_SERVER_KEY": KEY},
        )
    assert injected(done) == "Count twice."
    assert done.stderr == "[]\n"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nobody"],
        ["codex", "gemini"],
        ["codex", "--frobnicate"],
        ["codex", "--skill"],
        ["codex", "--timeout", "never"],
        ["codex", "--timeout", "-1"],
        ["codex", "--part", "3/2"],
        ["codex", "--fallback", "dance"],
    ],
)
def test_a_mistake_in_the_settings_never_stops_the_agent(tmp_path: Path, words: list[str]) -> None:
    done = hook(tmp_path, *words)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1


def test_without_a_skill_on_offer_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert hook(tmp_path, "codex").stdout == ""


def test_when_everything_fails_the_fallback_decides_and_the_doctor_can_read_why(tmp_path: Path) -> None:
    words = ["codex", "--skill", "c", "--server", "http://127.0.0.1:9", "--bank", "missing.bank"]
    done = hook(tmp_path, *words)
    assert (done.returncode, done.stdout) == (0, "")
    assert "missing.bank" in done.stderr
    line = json.loads((tmp_path / "state" / "skilldelta" / "hook-failures.jsonl").read_text())
    assert "missing.bank" in line["failure"]
    assert not (tmp_path / "missing.bank").exists()


def test_when_the_time_is_up_the_fallback_answers(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text("Count twice.")
    with fake_gate(says("skip"), seconds=20) as gate:
        words = ["--skill", "c", "--skill-file", "SKILL.md", "--server", gate.url, "--timeout", "30"]
        started = time.monotonic()
        done = hook(tmp_path, "codex", *words, "--time-limit", "0.5", "--fallback", "use")
    assert time.monotonic() - started < 10
    assert injected(done) == "Count twice."
    assert "no answer within 0.5 s" in done.stderr


def test_an_event_that_never_ends_is_not_waited_for(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "skilldelta", "hook", "codex", "--skill", "c", "--time-limit", "0.5", "--state", "-"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"hook_event_name":')
        process.stdin.flush()
        assert process.wait(timeout=30) == 0
        assert process.stdout.read() == b""


def test_closed_streams_do_no_harm(tmp_path: Path) -> None:
    command = f"{sys.executable} -m skilldelta hook codex --skill c --state - <&- >&- 2>&-"
    if sys.platform != "win32":
        assert subprocess.run(command, shell=True, cwd=tmp_path).returncode == 0


def test_the_same_answer_comes_through_click(
    skilldelta: Skilldelta, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import io

    monkeypatch.setenv("SKILLDELTA_SERVER_KEY", KEY)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(PROMPT).encode())))
    with fake_gate(says("use", skill_text="Count twice.")) as gate:
        ran = skilldelta(
            "hook", "codex", "--skill", "counting", "--server", gate.url, "--state", tmp_path, "--timeout", 30
        )
    assert ran.code == 0
    assert json.loads(ran.out)["hookSpecificOutput"]["additionalContext"] == "Count twice."


# Options

Options = Callable[..., dict[str, Any]]


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """The options of a hook that is started in a folder, with words and variables."""

    def read(folder: Path, *words: str, **variables: str) -> dict[str, Any]:
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            for name in [name for name in os.environ if name.startswith("SKILLDELTA_")]:
                patch.delenv(name)
            for name, value in variables.items():
                patch.setenv(name, value)
            return command.make_context("hook", ["codex", *words]).params

    return read


def test_flags_go_before_the_environment_before_the_file_before_defaults(tmp_path: Path, options: Options) -> None:
    (tmp_path / "skilldelta.toml").write_text('fallback = "abstain"\nk = 3\n[hook]\nk = 4\ninject = "invoke"\n')
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    found = options(inside, "--fallback", "use", SKILLDELTA_FALLBACK="skip", SKILLDELTA_INJECT="text")
    assert (found["fallback"], found["inject"], found["k"], found["ask"]) == ("use", "text", 4, "auto")
    assert options(inside)["fallback"] == "abstain"
    assert options(inside, SKILLDELTA_FALLBACK="skip")["fallback"] == "skip"


def test_paths_in_the_file_are_meant_from_its_folder(tmp_path: Path, options: Options) -> None:
    (tmp_path / "skilldelta.toml").write_text('bank = "my.bank"\n[hook]\nskill-file = ["a/SKILL.md", "b/SKILL.md"]\n')
    found = options(tmp_path)
    assert found["bank"] == str(tmp_path / "my.bank")
    assert found["skill_file"] == (str(tmp_path / "a/SKILL.md"), str(tmp_path / "b/SKILL.md"))


@pytest.mark.parametrize("text", ["bank = ", "k = 'many'", "[hook]\npart = 'all'", "fallback = ['use', 'skip']"])
def test_a_file_that_cannot_be_taken_is_named(tmp_path: Path, options: Options, text: str) -> None:
    (tmp_path / "skilldelta.toml").write_text(text)
    with pytest.raises((InputError, click.ClickException)):
        hook_settings("codex", options(tmp_path), {})


@pytest.mark.parametrize(
    "line",
    [
        'server = "http://gate.example"',
        'server = "http://127.0.0.1.gate.example:80"',
        'server = "https://gate.example"',
        'server = "http://127.0.0.1:80@gate.example"',
        'server = "http://127.0.0.1:80\\n@gate.example"',
        'bank = "postgresql://db.example/x"',
        'state = "/etc"',
        'encoder = "sentence-transformers"',
        'encoder_url = "https://encoder.example/v1"',
        'encoder-model = "./weights"',
    ],
)
def test_a_strangers_folder_cannot_say_where_prompts_are_sent(tmp_path: Path, options: Options, line: str) -> None:
    """A user's hook runs in every repository that an agent is started in."""
    (tmp_path / "skilldelta.toml").write_text(f"[hook]\n{line}\n")
    with pytest.raises((InputError, click.ClickException), match="not taken from a project's file"):
        options(tmp_path)
    name = line.partition(" ")[0].replace("_", "-")
    assert options(tmp_path, f"--{name}", "mine")[name.replace("-", "_")] == "mine"
    done = hook(tmp_path, "codex", "--skill", "x")
    assert (done.returncode, done.stdout) == (0, "")


def test_a_projects_file_may_name_a_server_of_this_machine(tmp_path: Path, options: Options) -> None:
    (tmp_path / "skilldelta.toml").write_text('[hook]\nserver = "http://127.0.0.1:7999"\nencoder = "tfidf"\n')
    assert options(tmp_path)["server"] == "http://127.0.0.1:7999"


def test_names_and_files_make_skills(tmp_path: Path, options: Options) -> None:
    (tmp_path / "dates").mkdir()
    (tmp_path / "dates" / "SKILL.md").write_text("---\nname: dates-of-the-house\n---\nText")
    file = (tmp_path / "dates" / "SKILL.md").resolve()

    def skills(*words: str) -> tuple[OfferedSkill, ...]:
        return hook_settings("codex", options(tmp_path, *words), {}).skills

    folder = str(tmp_path / "dates")
    assert skills("--skill-file", folder) == (OfferedSkill("dates-of-the-house", file),)
    assert skills("--skill", "dates", "--skill-file", folder) == (OfferedSkill("dates", file),)
    assert skills("--skill", "a", "--skill", "b", "--skill", "a") == (OfferedSkill("a"), OfferedSkill("b"))
    assert skills("--skill", "a", "--skill", "b", "--skill-file", folder)[2].file == file


def test_the_state_is_where_the_harness_says_or_in_the_users_own_folder(tmp_path: Path, options: Options) -> None:
    def state(*words: str, **variables: str) -> Path | None:
        return hook_settings("codex", options(tmp_path, *words), variables).state

    assert state(CLAUDE_PLUGIN_DATA="/data") == Path("/data")
    assert state("--state", "/mine", CLAUDE_PLUGIN_DATA="/data") == Path("/mine")
    assert state("--state", "-") is None
    assert state(XDG_STATE_HOME="/xdg") == Path("/xdg/skilldelta")


def test_equals_signs_and_parts_are_read(tmp_path: Path, options: Options) -> None:
    found = options(tmp_path, "--part=2/3", "--paper", "--threshold=-0.5")
    assert hook_settings("codex", found, {}).part == Part(2, 3)
    assert (found["paper"], found["threshold"]) == (True, -0.5)


def test_a_server_is_asked_with_the_settings_of_the_gate_that_somebody_has_given(tmp_path: Path) -> None:
    (tmp_path / "skilldelta.toml").write_text("k = 4\n")
    with fake_gate(says("skip")) as gate:
        hook(tmp_path, "codex", "--skill", "c", "--server", gate.url, "--paper", SKILLDELTA_THRESHOLD="0.25")
    assert gate.asked[0][1]["gate"] == {"paper": True, "k": 4, "threshold": 0.25}


def test_the_first_entry_of_a_plugin_counts_the_others_only_where_they_are_switched_on(
    tmp_path: Path, options: Options
) -> None:
    found = options(tmp_path, "--part", "1/auto")
    assert hook_settings("codex", found, {}).part == Part(1, 1)
    assert hook_settings("codex", found, {"SKILLDELTA_LONG_SKILLS": ""}).part == Part(1, 1)
    assert hook_settings("codex", found, {"SKILLDELTA_LONG_SKILLS": "1"}).part == Part(1, 3)
    assert hook_settings("codex", options(tmp_path), {"SKILLDELTA_LONG_SKILLS": "1"}).part == Part(1, 1)


@pytest.mark.parametrize(("name", "host"), [("hooks.json", "claude-code"), ("codex.json", "codex")])
def test_the_plugins_entries_fit_the_number_that_the_first_counts(tmp_path: Path, name: str, host: str) -> None:
    file = Path(__file__).resolve().parents[2] / "plugins" / "claude-code" / "hooks" / name
    (group,) = json.loads(file.read_text())["hooks"]["UserPromptSubmit"]
    parts = [entry["command"].rpartition("--part ")[2].removesuffix(" || true") for entry in group["hooks"]]
    assert parts == ["1/auto", "2/3", "3/3"]
    assert all(entry["command"].count("SKILLDELTA_LONG_SKILLS") == (i > 0) for i, entry in enumerate(group["hooks"]))
    assert all(f"skilldelta hook {host} --ask server" in entry["command"] for entry in group["hooks"])
