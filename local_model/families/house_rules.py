"""Families whose skill holds a house rule nobody can guess.

Each also has a few tasks of the same trade where the rule does not apply, because the task states its own
terms: there the skill is idle at best.
"""

from __future__ import annotations

from random import Random

from families.draft import COUNT, MONEY, TEXT, WORD, Draft, Family

GOODS = ("tomatoes", "peaches", "beans", "corn", "olives", "chickpeas", "lentils", "pears")
TRAY, CRATE, PALLET = 14, 6, 32  # cans in a tray, trays in a crate, crates in a pallet


def cans_from_pallets(rng: Random) -> Draft:
    pallets, crates, goods = rng.randint(2, 9), rng.randint(1, 30), rng.choice(GOODS)
    text = rng.choice(
        (
            f"Hall 2 holds {pallets} pallets and {crates} loose crates of {goods}. How many cans is that?",
            f"A lorry brings {pallets} pallets of {goods}, plus {crates} crates. Count the cans.",
            f"Give the number of cans in {pallets} pallets and {crates} crates of {goods}.",
        )
    )
    return Draft(text, (pallets * PALLET + crates) * CRATE * TRAY, COUNT)


def cans_from_crates(rng: Random) -> Draft:
    crates, trays, goods = rng.randint(3, 40), rng.randint(1, 5), rng.choice(GOODS)
    text = rng.choice(
        (
            f"How many cans are in {crates} crates and {trays} trays of {goods}?",
            f"The shop ordered {crates} crates and {trays} single trays of {goods}. How many cans will arrive?",
            f"We counted {crates} crates of {goods} and {trays} trays on top. State the total of cans.",
        )
    )
    return Draft(text, (crates * CRATE + trays) * TRAY, COUNT)


def cans_from_foreign_crates(rng: Random) -> Draft:
    crates, size, goods = rng.randint(3, 40), rng.choice((10, 15, 16, 20, 25, 40)), rng.choice(GOODS)
    text = rng.choice(
        (
            f"A supplier packs {size} cans of {goods} into each of its own crates. How many cans are in {crates} of them?",
            f"These foreign crates hold {size} cans each. {crates} of them came with {goods}. How many cans is that?",
            f"{crates} crates of {goods} arrived, {size} cans per crate according to the label. How many cans?",
        )
    )
    return Draft(text, crates * size, COUNT)


QUARTERS = "ABCD"
OFFICES = ("Hamburg", "Leeds", "Porto", "Turin", "Gdansk", "Lyon", "Bergen", "Utrecht")


def invoice_number(rng: Random) -> Draft:
    year, month, count = rng.randint(2021, 2026), rng.randint(1, 12), rng.randint(3, 980)
    office = rng.choice(OFFICES)
    text = rng.choice(
        (
            f"Write the invoice number for invoice {count} of the {office} office, issued in month {month} of {year}.",
            f"{office} issues its invoice no. {count} in month {month}, {year}. What is the full invoice number?",
            f"Which number goes on the invoice? Office: {office}. Issued: {year}-{month:02d}. Running count: {count}.",
        )
    )
    number = f"{office[:2].upper()}{year % 100:02d}{QUARTERS[(month - 1) // 3]}-{count:04d}"
    return Draft(text, number, TEXT)


def next_invoice_number(rng: Random) -> Draft:
    prefix, count = rng.choice(("INV", "RE", "FA", "BILL")), rng.randint(11, 8990)
    number, following = f"{prefix}-{count:05d}", f"{prefix}-{count + 1:05d}"
    text = rng.choice(
        (
            f"A supplier numbers its invoices in plain sequence. The last one was {number}. Which number comes next?",
            f"The invoice before was {number}; the count simply goes up by one. Give the next number.",
            f"Continue the sequence: after invoice {number} follows which number?",
        )
    )
    return Draft(text, following, TEXT)


AREAS = ("billing", "stock", "login", "reports", "mail", "search")
CHANGES = (
    "close idle connections",
    "skip empty rows",
    "sort names by date",
    "accept longer names",
    "retry after a timeout",
    "show the tax rate",
    "drop old entries",
    "read dates with dots",
)
KINDS = {"fix": "!", "feature": "+", "removal": "-"}


def house_commit(rng: Random) -> Draft:
    area, change, ticket = rng.choice(AREAS), rng.choice(CHANGES), rng.randint(100, 999)
    kind = rng.choice(sorted(KINDS))
    text = rng.choice(
        (
            f"Write our commit line. Kind: {kind}. Area: {area}. Ticket: {ticket}. Summary: {change}.",
            f"A {kind} in the area {area} for ticket {ticket}: {change}. What is the commit line in our house format?",
            f"House commit line, please: area {area}, kind {kind}, summary '{change}', ticket {ticket}.",
        )
    )
    return Draft(text, f"{ticket}{KINDS[kind]} {area.upper()} | {change}", TEXT)


def conventional_commit(rng: Random) -> Draft:
    area, change, kind = rng.choice(AREAS), rng.choice(CHANGES), rng.choice(("fix", "feat"))
    text = rng.choice(
        (
            f"Write a Conventional Commits header of type {kind} with scope {area} and description '{change}'.",
            f"For an outside project that uses Conventional Commits: type {kind}, scope {area}, description: {change}. "
            "Give the header line.",
        )
    )
    return Draft(text, f"{kind}({area}): {change}", TEXT)


ZONE_RATES = {1: (4, 2), 2: (6, 3), 3: (9, 5)}  # zone: base price, price per kg


def zone_of(postcode: str) -> int:
    return 1 if postcode[0] in "0123" else 2 if postcode[0] in "456" else 3


def house_shipping(rng: Random) -> Draft:
    postcode, weight = f"{rng.randint(1000, 99999):05d}", rng.randint(2, 30)
    text = rng.choice(
        (
            f"What does it cost to send a parcel of {weight} kg to postcode {postcode}?",
            f"Parcel to {postcode}, weight {weight} kg. Which price do we charge for shipping?",
            f"Quote the shipping price: {weight} kg, destination postcode {postcode}.",
        )
    )
    base, rate = ZONE_RATES[zone_of(postcode)]
    return Draft(text, base + rate * weight, MONEY)


def courier_shipping(rng: Random) -> Draft:
    base, rate, weight = rng.randint(3, 12), rng.choice((0.5, 0.8, 1.5, 2.5)), rng.randint(2, 30)
    text = rng.choice(
        (
            f"An outside courier asks {base} per parcel plus {rate} per kg. What does a parcel of {weight} kg cost?",
            f"The customer's own courier: base price {base}, then {rate} for every kg. Price for {weight} kg?",
        )
    )
    return Draft(text, base + rate * weight, MONEY)


CREWS = ("Red", "Blue", "Green", "Gold")


def crew_of_the_day(rng: Random) -> Draft:
    day = rng.randint(4, 360)
    text = rng.choice(
        (
            f"Which crew is on shift on day {day} of the year?",
            f"It is day {day} of the year. Name the crew that works.",
            f"Look up the crew for day number {day}.",
        )
    )
    return Draft(text, CREWS[((day - 1) // 3) % 4], WORD)


def hours_of_a_shift(rng: Random) -> Draft:
    start, length, people = rng.randint(0, 12), rng.randint(5, 11), rng.randint(2, 9)
    text = rng.choice(
        (
            f"A crew of {people} works from {start}:00 to {start + length}:00. How many working hours is that in total?",
            f"{people} people are on shift from {start}:00 until {start + length}:00. Add up their hours.",
        )
    )
    return Draft(text, people * length, COUNT)


WEIGHTS = (2, 5, 3)


def sku_check_digit(rng: Random) -> Draft:
    item = str(rng.randint(10000, 999999))
    check = sum(int(digit) * WEIGHTS[place % 3] for place, digit in enumerate(item)) % 9
    text = rng.choice(
        (
            f"What is the complete SKU, check digit included, of item {item}?",
            f"Item {item} needs its SKU. Write it with the check digit.",
            f"Add the check digit to item number {item} and give the SKU.",
        )
    )
    return Draft(text, f"{item}-{check}", TEXT)


def sku_digit_sum(rng: Random) -> Draft:
    item = str(rng.randint(10000, 999999))
    text = rng.choice(
        (
            f"What is the plain digit sum of item number {item}?",
            f"Add up all digits of the item number {item}.",
        )
    )
    return Draft(text, sum(map(int, item)), COUNT)


PRIORITY_CUSTOMERS = ("a gold customer", "a standard customer")


def ticket_priority(rng: Random) -> Draft:
    people, hours, customer = rng.randint(1, 60), rng.randint(1, 30), rng.choice(PRIORITY_CUSTOMERS)
    score = people // 10 + hours // 6 + (3 if "gold" in customer else 0)
    text = rng.choice(
        (
            f"A ticket from {customer}: {people} people affected, open for {hours} hours. Which priority does it get?",
            f"Set the priority of this ticket: {people} people cannot work, {hours} hours old, from {customer}.",
        )
    )
    return Draft(text, "P1" if score >= 7 else "P2" if score >= 4 else "P3", TEXT)


def ticket_share(rng: Random) -> Draft:
    total, share = rng.choice((40, 60, 80, 120, 200)), rng.choice((5, 10, 15, 20, 35))
    text = rng.choice(
        (
            f"Of {total} tickets this week, {share} percent had priority P1. How many tickets is that?",
            f"{share}% of our {total} tickets were urgent. How many were that?",
        )
    )
    return Draft(text, total * share / 100, COUNT)


FAMILIES = (
    Family(
        "warehouse-units",
        "warehouse-units",
        (("pallets", cans_from_pallets, 8), ("crates", cans_from_crates, 9), ("foreign", cans_from_foreign_crates, 9)),
    ),
    Family("invoice-numbers", "invoice-numbers", (("house", invoice_number, 18), ("sequence", next_invoice_number, 8))),
    Family("commit-lines", "commit-lines", (("house", house_commit, 14), ("conventional", conventional_commit, 12))),
    Family("shipping-prices", "shipping-prices", (("house", house_shipping, 17), ("courier", courier_shipping, 9))),
    Family("shift-crews", "shift-crews", (("crew", crew_of_the_day, 17), ("hours", hours_of_a_shift, 9))),
    Family("sku-numbers", "sku-numbers", (("check", sku_check_digit, 17), ("sum", sku_digit_sum, 9))),
    Family("ticket-priority", "ticket-priority", (("priority", ticket_priority, 18), ("share", ticket_share, 8))),
)
