"""Families the model can already solve: their skills are correct and mostly needless."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

from families.draft import COUNT, TEXT, WORD, Draft, Family

UNITS = (
    ("kilometres", "metres", 1000),
    ("hours", "minutes", 60),
    ("metres", "centimetres", 100),
    ("kilograms", "grams", 1000),
    ("days", "hours", 24),
    ("litres", "millilitres", 1000),
)
RARE_UNITS = (
    ("furlongs", "yards", 220),
    ("stone", "pounds", 14),
    ("fathoms", "feet", 6),
    ("bushels", "pecks", 4),
    ("chains", "yards", 22),
)


def common_units(rng: Random) -> Draft:
    return conversion(rng, *rng.choice(UNITS))


def rare_units(rng: Random) -> Draft:
    return conversion(rng, *rng.choice(RARE_UNITS))


def conversion(rng: Random, source: str, target: str, factor: int) -> Draft:
    amount = rng.randint(3, 95)
    text = rng.choice(
        (
            f"How many {target} are {amount} {source}?",
            f"Convert {amount} {source} to {target}.",
            f"A label says {amount} {source}. Give the same in {target}.",
        )
    )
    return Draft(text, amount * factor, COUNT)


def celsius(rng: Random) -> Draft:
    degrees = rng.randint(-4, 19) * 5
    text = rng.choice(
        (f"Convert {degrees} degrees Celsius to Fahrenheit.", f"The cold room shows {degrees} C. What is that in F?")
    )
    return Draft(text, degrees * 9 / 5 + 32, COUNT)


def some_day(rng: Random) -> date:
    return date(2019, 1, 1) + timedelta(days=rng.randint(0, 2500))


def spoken(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"


def days_between(rng: Random) -> Draft:
    start, span = some_day(rng), rng.randint(12, 300)
    end = start + timedelta(days=span)
    text = rng.choice(
        (
            f"How many days lie between {spoken(start)} and {spoken(end)}?",
            f"An order was placed on {start} and arrived on {end}. How many days did it take?",
            f"Count the days from {spoken(start)} to {spoken(end)}.",
        )
    )
    return Draft(text, span, COUNT)


def day_after(rng: Random) -> Draft:
    start, span = some_day(rng), rng.randint(12, 200)
    text = rng.choice(
        (
            f"Which date is {span} days after {spoken(start)}? Answer as YYYY-MM-DD.",
            f"A permit of {span} days starts on {start}. On which date (YYYY-MM-DD) has it run {span} days?",
        )
    )
    return Draft(text, str(start + timedelta(days=span)), TEXT)


def weekday(rng: Random) -> Draft:
    day = some_day(rng)
    text = rng.choice((f"Which weekday was {spoken(day)}?", f"Name the day of the week of {day}."))
    return Draft(text, f"{day:%A}", WORD)


PHRASES = (
    "the delivery entered the eastern gate",
    "please return every empty bottle",
    "seven sheets are missing from the folder",
    "our office opens at seven on monday",
    "the green door is locked after eight",
    "nobody answered the second letter",
    "eleven barrels were rolled to the cellar",
    "a broken seal means a full refund",
)


def letters(rng: Random) -> Draft:
    phrase, letter = rng.choice(PHRASES), rng.choice("aeorst")
    text = rng.choice(
        (
            f"How many times does the letter {letter} occur in '{phrase}'?",
            f"Count the letter {letter} in the line: {phrase}",
        )
    )
    return Draft(text, phrase.count(letter), COUNT)


def words(rng: Random) -> Draft:
    phrase = f"{rng.choice(PHRASES)} and {rng.choice(PHRASES)}"
    text = rng.choice((f"How many words has the line '{phrase}'?", f"Count the words: {phrase}"))
    return Draft(text, len(phrase.split()), COUNT)


def vowels(rng: Random) -> Draft:
    phrase = rng.choice(PHRASES)
    text = rng.choice((f"How many vowels are in '{phrase}'?", f"Count the vowels of the line: {phrase}"))
    return Draft(text, sum(phrase.count(letter) for letter in "aeiou"), COUNT)


FAMILIES = (
    Family(
        "unit-conversion",
        "unit-conversion",
        (("common", common_units, 9), ("rare", rare_units, 11), ("celsius", celsius, 6)),
    ),
    Family(
        "date-arithmetic",
        "date-arithmetic",
        (("between", days_between, 10), ("after", day_after, 9), ("weekday", weekday, 7)),
    ),
    Family("text-counts", "text-counts", (("letters", letters, 10), ("words", words, 8), ("vowels", vowels, 8))),
)
