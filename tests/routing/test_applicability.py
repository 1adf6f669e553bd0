"""Which of many skills a task is about, or none of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from skilldelta.arrays import Vectors, unit_rows
from skilldelta.encoders import load_encoder
from skilldelta.errors import InputError
from skilldelta.routing.applicability import Applicability, Described, Ranking, RecordedTasks
from skilldelta.routing.everyday import everyday_prompts

PALLETS = [
    f"How many cans are in {n} pallets and {n + 3} crates of {x}?" for n, x in enumerate(("peas", "corn", "beans"))
]
PALLETS += [f"Count the cans on {n} pallets of {x}." for n, x in enumerate(("tomatoes", "soup", "fruit"), 4)]
INVOICES = [
    f"Write the invoice number of office {x}, year {2020 + n}, month {n}." for n, x in enumerate(("Bern", "Rome"))
]
INVOICES += [
    f"What is invoice number {n} of the {x} office in May?" for n, x in enumerate(("Oslo", "Paris", "Kiel"), 7)
]
CREWS = [f"Which crew works on day {n} of the year?" for n in (3, 40, 71)]
CREWS += [f"Name the crew that has the shift on day {n}." for n in (9, 120, 300)]
BANK = {"crews": CREWS, "invoices": INVOICES, "pallets": PALLETS}


def vectors(texts: list[str]) -> Vectors:
    return load_encoder().encode(texts)


def recorded(bank: dict[str, list[str]]) -> RecordedTasks:
    texts = [text for tasks in bank.values() for text in tasks]
    skills = [skill for skill, tasks in bank.items() for _ in tasks]
    return RecordedTasks.of(texts, skills, vectors(texts), texts)


@pytest.fixture(scope="module")
def everyday() -> Vectors:
    return vectors(list(everyday_prompts()))


@pytest.fixture(scope="module")
def fitted(everyday: Vectors) -> Applicability:
    return Applicability.fit(recorded(BANK), everyday, everyday_texts=everyday_prompts())


def rank(fitted: Applicability, text: str, offered: list[str] | None = None) -> Ranking:
    return fitted.rank(vectors([text])[0], offered, text=text)


@pytest.mark.parametrize(
    ("text", "skill"),
    [
        ("How many cans do 12 pallets of olives hold?", "pallets"),
        ("Give me invoice number 31 of the Lyon office for June.", "invoices"),
        ("Which crew has to work on day 200?", "crews"),
    ],
)
def test_a_task_like_the_recorded_ones_is_about_their_skill(fitted: Applicability, text: str, skill: str) -> None:
    assert rank(fitted, text).applicable() == [skill]


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Write a poem about spring.",
        "Fix the failing test in the parser.",
        "Wo ist der Bahnhof?",
        "你好",
        "continue",
    ],
)
def test_other_messages_are_about_none(fitted: Applicability, text: str) -> None:
    ranking = rank(fitted, text)
    assert ranking.any_skill < 0.5
    assert ranking.applicable() == []


def test_a_task_of_a_recorded_skill_that_is_not_on_offer_is_about_none_of_those_on_offer(fitted: Applicability) -> None:
    text = "Which crew has to work on day 200?"
    assert rank(fitted, text, ["pallets", "invoices"]).applicable() == []
    assert rank(fitted, text, ["pallets", "crews"]).applicable() == ["crews"]


def test_skills_that_nobody_recorded_are_left_out(fitted: Applicability) -> None:
    assert rank(fitted, "hello", ["unknown"]) == Ranking({})
    assert set(rank(fitted, "hello", ["unknown", "crews"]).chances) == {"crews"}


def test_one_skill_alone_has_none_as_its_competitor(everyday: Vectors) -> None:
    alone = Applicability.fit(recorded({"crews": CREWS}), everyday)
    assert rank(alone, "Which crew has to work on day 200?").applicable() == ["crews"]
    assert rank(alone, "Recommend a book about whales.").applicable() == []


def test_a_description_stands_in_for_tasks_that_are_missing(everyday: Vectors) -> None:
    tasks = recorded({"crews": CREWS, "parking": ["May visitor 12 leave the car at gate B?"]})
    question = "Where are visitors allowed to park?"
    text = "parking: where visitors and staff may park their cars"
    described = {"parking": Described(text, vectors([text])[0])}
    without = rank(Applicability.fit(tasks, everyday), question).chances["parking"]
    assert rank(Applicability.fit(tasks, everyday, descriptions=described), question).chances["parking"] > without


def test_twins_share_a_task_and_both_are_applicable(everyday: Vectors) -> None:
    twins = recorded({"crews": CREWS, "crews-2": CREWS, "pallets": PALLETS})
    fitted = Applicability.fit(twins, everyday)
    text = "Which crew has to work on day 200?"
    assert set(rank(fitted, text).applicable()) == {"crews", "crews-2"}
    # The twin that is not on offer does not take its share away.
    assert rank(fitted, text, ["crews-2", "pallets"]).applicable() == ["crews-2"]


def test_a_scattered_skill_does_not_accept_everything(everyday: Vectors) -> None:
    scattered = ["Name a river in Peru.", "Bake 12 rolls.", "Who owns lot 7?", "Tune the viola.", "Sum 3 and 9."]
    fitted = Applicability.fit(recorded({**BANK, "scattered": scattered}), everyday)
    prompts = ["hi", "Write a poem about spring.", "Fix the failing test in the parser.", "Plan a trip to Rome."]
    assert [rank(fitted, prompt).applicable() for prompt in prompts] == [[]] * len(prompts)


def test_the_answer_does_not_depend_on_the_order_of_the_records(everyday: Vectors, fitted: Applicability) -> None:
    shuffled = {skill: list(reversed(tasks)) for skill, tasks in reversed(BANK.items())}
    again = Applicability.fit(recorded(shuffled), everyday, everyday_texts=everyday_prompts())
    texts = ["How many cans do 12 pallets of olives hold?"]
    query = vectors(texts)
    np.testing.assert_allclose(again.chances(query, texts), fitted.chances(query, texts), atol=1e-6)


def test_many_tasks_at_once_get_the_same_chances_as_alone(fitted: Applicability) -> None:
    texts = [*CREWS, "hi", "Recommend a book about whales."]
    together = fitted.chances(vectors(texts), texts)
    assert together.sum(axis=1) == pytest.approx(np.ones(len(texts)))
    for text, chances in zip(texts, together, strict=True):
        assert list(rank(fitted, text).chances.values()) == pytest.approx(chances[:-1].tolist(), abs=1e-6)


def test_nothing_recorded_is_refused(everyday: Vectors) -> None:
    with pytest.raises(InputError, match="applicability needs a recorded task"):
        Applicability.fit(RecordedTasks.of([], [], np.empty((0, 256), np.float32)), everyday)


def test_several_versions_of_a_task_under_one_skill_are_one_task() -> None:
    tasks = RecordedTasks.of(["a", "a", "b"], ["s", "s", "s"], np.eye(3, dtype=np.float32))
    assert tasks.vectors.shape == (2, 3)
    assert tasks.members.tolist() == [0, 1]


@pytest.mark.slow
def test_chances_are_probabilities(everyday: Vectors) -> None:
    """Among messages that get a chance of about p, about p are about the skill: here in simulated clusters."""
    generator = np.random.default_rng(7)
    dimension, skills = 256, 8
    centers = generator.normal(size=(skills + 4, dimension))

    def draw(center: int, size: int) -> Vectors:
        rows = centers[center] + generator.normal(size=(size, dimension)) * 2.2
        return unit_rows(rows)

    bank = np.concatenate([draw(i, 20) for i in range(skills)])
    names = [f"s{i}" for i in range(skills) for _ in range(20)]
    fitted = Applicability.fit(RecordedTasks.of([str(i) for i in range(len(bank))], names, bank), everyday)
    own = np.concatenate([1 - fitted.chances(draw(i, 100))[:, -1] for i in range(skills)])
    foreign = np.concatenate([1 - fitted.chances(draw(skills + i, 100))[:, -1] for i in range(4)])
    # As many foreign tasks and everyday prompts as own ones, as the module says.
    prompts = 1 - fitted.chances(everyday)[:, -1]
    weight = np.concatenate([np.full(len(x), 1 / len(x)) for x in (own, foreign, prompts)])
    chance = np.concatenate([own, foreign, prompts])
    right = np.concatenate([np.ones(len(own)), np.zeros(len(foreign) + len(prompts))])
    for low, high in ((0.0, 0.2), (0.8, 1.01)):
        inside = (chance >= low) & (chance < high)
        rate = np.average(right[inside], weights=weight[inside])
        assert abs(rate - np.average(chance[inside], weights=weight[inside])) < 0.15


def long_note(number: int) -> str:
    """A long text that says nothing about what is to be done, unlike every other one in its details."""
    generator = np.random.default_rng(number)
    parts = ("The patient slept well", "the nurse came at noon", "lunch was soup", "a cousin visited", "it rained")
    return ". ".join(f"{parts[i]} on day {generator.integers(100)}" for i in generator.integers(len(parts), size=60))


def test_the_last_sentence_of_a_long_text_says_which_skill_it_is_about(everyday: Vectors) -> None:
    questions = {
        "clearance": "What is the creatinine clearance in mL/min?",
        "rhythm": "What is the corrected QT interval in msec?",
        "mass": "What is the body mass index in kg/m2?",
    }
    bank = {
        name: [f"{long_note(10 * i + n)}. {question}" for n in range(6)]
        for i, (name, question) in enumerate(questions.items())
    }
    fitted = Applicability.fit(recorded(bank), everyday, everyday_texts=everyday_prompts())
    for i, (name, question) in enumerate(questions.items()):
        assert rank(fitted, f"{long_note(900 + i)}. {question}").applicable() == [name]
    assert rank(fitted, f"{long_note(950)}. Write a poem about this.").applicable() == []


def test_many_small_chances_are_no_reason_to_take_a_skill() -> None:
    spread = Ranking({f"skill-{i}": 0.19 for i in range(5)})
    assert spread.any_skill > 0.9
    assert spread.applicable() == []


def test_skills_that_cannot_be_told_apart_count_together() -> None:
    chances = {"dates": 0.4, "days": 0.4, "units": 0.1}
    assert Ranking(chances).applicable() == []
    alike = frozenset({("dates", "days"), ("days", "dates")})
    assert Ranking(chances, alike).applicable() == ["dates", "days"]


def test_tasks_without_texts_are_ranked_by_their_vectors_alone(everyday: Vectors) -> None:
    with_texts = recorded(BANK)
    without = RecordedTasks.of(with_texts.texts, ["crews"] * len(with_texts.texts), with_texts.vectors)
    fitted = Applicability.fit(without, everyday, everyday_texts=everyday_prompts())
    text = "Which crew has to work on day 200?"
    assert fitted.rank(vectors([text])[0], text=text).chances == fitted.rank(vectors([text])[0]).chances


SHARED = Path(__file__).parents[3] / "shared" / "data" / "sra_tasks"


@pytest.mark.parametrize(("name", "recorded_each", "least_own"), [("medcalcbench", 5, 0.9), ("toolqa", 40, 0.9)])
@pytest.mark.skipif(not SHARED.is_dir(), reason="the public task inventories are not beside the checkout")
def test_tasks_of_public_benchmarks_find_their_skill_and_hardly_ever_another(
    name: str, recorded_each: int, least_own: float, everyday: Vectors
) -> None:
    rows = json.loads((SHARED / f"{name}.json").read_text())
    by_skill: dict[str, list[str]] = {}
    for i in np.random.default_rng(2).permutation(len(rows)):
        by_skill.setdefault(rows[i]["skill_annotations"][0], []).append(rows[i]["question"])
    bank = {skill: texts[: min(recorded_each, len(texts) - 2)] for skill, texts in by_skill.items()}
    fitted = Applicability.fit(recorded(bank), everyday, everyday_texts=everyday_prompts())
    asked = [(skill, text) for skill, texts in by_skill.items() for text in texts[len(bank[skill]) :][:3]]
    answers = [rank(fitted, text).applicable() for _, text in asked]
    assert sum(skill in answer for (skill, _), answer in zip(asked, answers, strict=True)) >= least_own * len(asked)
    wrong = sum(bool(answer) and skill not in answer for (skill, _), answer in zip(asked, answers, strict=True))
    assert wrong <= 0.02 * len(asked)


def test_a_text_that_is_not_valid_unicode_is_ranked_like_any_other(fitted: Applicability) -> None:
    query = vectors(["Which crew has to work on day 200?"])[0]
    assert fitted.rank(query, text="Which crew \ud800 has to work on day 200?").applicable() == ["crews"]


def test_skills_with_one_task_each_and_no_description_are_told_apart(everyday: Vectors) -> None:
    single = {"crews": CREWS[:1], "invoices": INVOICES[:1], "pallets": PALLETS[:1]}
    fitted = Applicability.fit(recorded(single), everyday, everyday_texts=everyday_prompts())
    chances = rank(fitted, PALLETS[1]).chances
    assert max(chances, key=lambda name: chances[name]) == "pallets"
    assert rank(fitted, "Write a poem about the sea.").applicable() == []
