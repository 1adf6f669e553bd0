"""Families whose skill is outdated or a wrong shortcut; some of their tasks never touch the bad part."""

from __future__ import annotations

from random import Random
from statistics import mean, median

from families.draft import COUNT, MONEY, Draft, Family

ARTICLES = ("lamp", "desk", "chair", "kettle", "shelf", "printer", "ladder", "heater")


def two_discounts(rng: Random) -> Draft:
    price, first, second = rng.randint(4, 60) * 10, rng.choice((10, 20, 25, 30)), rng.choice((5, 10, 20))
    article = rng.choice(ARTICLES)
    text = rng.choice(
        (
            f"A {article} costs {price}. It is reduced by {first}% and then by another {second}%. What is the price now?",
            f"The price of a {article} is {price}. First {first}% is taken off, then {second}% off the reduced price. "
            "What is left to pay?",
        )
    )
    return Draft(text, round(price * (100 - first) * (100 - second) / 10000, 4), MONEY)


def one_discount(rng: Random) -> Draft:
    price, share, article = rng.randint(4, 60) * 10, rng.choice((5, 10, 15, 20, 30)), rng.choice(ARTICLES)
    text = rng.choice(
        (
            f"A {article} for {price} is sold at {share}% off. What does it cost?",
            f"What do we charge for a {article} of {price} after a discount of {share}%?",
        )
    )
    return Draft(text, round(price * (100 - share) / 100, 4), MONEY)


def quantity_price(rng: Random) -> Draft:
    price, count, article = rng.randint(4, 60) * 10, rng.randint(2, 14), rng.choice(ARTICLES)
    text = rng.choice(
        (
            f"One {article} costs {price}. What do {count} of them cost at list price?",
            f"List price for {count} pieces of a {article} at {price} each?",
        )
    )
    return Draft(text, price * count, MONEY)


def readings(rng: Random, count: int) -> list[int]:
    return [rng.randint(2, 90) for _ in range(count)]


def listed(values: list[int]) -> str:
    return ", ".join(map(str, values))


def average(rng: Random) -> Draft:
    values = readings(rng, rng.randint(4, 7))
    text = rng.choice(
        (f"What is the mean of the readings {listed(values)}?", f"Average of these readings: {listed(values)}")
    )
    return Draft(text, round(mean(values), 6), {"type": "numeric", "tolerance": 0.01})


def middle(rng: Random) -> Draft:
    values = readings(rng, rng.choice((5, 6, 6, 8)))
    text = rng.choice((f"Find the median of {listed(values)}.", f"What is the median reading? {listed(values)}"))
    return Draft(text, median(values), COUNT)


def spread(rng: Random) -> Draft:
    values = readings(rng, rng.randint(5, 7))
    text = rng.choice(
        (
            f"What is the difference between the largest and the smallest reading in {listed(values)}?",
            f"Readings: {listed(values)}. Subtract the smallest from the largest.",
        )
    )
    return Draft(text, max(values) - min(values), COUNT)


FAMILIES = (
    Family(
        "price-reductions",
        "price-reductions",
        (("two", two_discounts, 10), ("one", one_discount, 9), ("list", quantity_price, 7)),
    ),
    Family(
        "meter-readings",
        "meter-readings",
        (("mean", average, 10), ("median", middle, 9), ("spread", spread, 7)),
    ),
)
