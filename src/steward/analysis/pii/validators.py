"""Whether a text really is what its shape suggests: checksums and rules, one function per family.

The libraries are imported on first use, so that an idle server does not carry them.
"""

import ipaddress
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module

Validator = Callable[[str], bool]

# National numbers carry no country, so they are tried in this order; the first that fits wins.
PHONE_REGIONS = ("US", "GB", "DE", "FR", "ES", "IT", "NL", "PL", "BR", "IN", "AU", "JP")

_NOT_DIGITS = re.compile(r"[^0-9]")

# Number ranges given out by card schemes, as (first, last, digits of the range, allowed lengths).
_CARD_RANGES = (
    (4, 4, 1, (13, 16, 19)),
    (51, 55, 2, (16,)),
    (2221, 2720, 4, (16,)),
    (34, 34, 2, (15,)),
    (37, 37, 2, (15,)),
    (6011, 6011, 4, (16, 19)),
    (644, 649, 3, (16, 19)),
    (65, 65, 2, (16, 19)),
    (36, 36, 2, (14, 16)),
    (38, 39, 2, (14, 16)),
    (300, 305, 3, (14, 16)),
    (3528, 3589, 4, (16, 17, 18, 19)),
    (62, 62, 2, (16, 17, 18, 19)),
    (50, 50, 2, (13, 14, 15, 16, 17, 18, 19)),
    (56, 58, 2, (13, 14, 15, 16, 17, 18, 19)),
)


def email(text: str) -> bool:
    from email_validator import EmailNotValidError, validate_email

    try:
        validate_email(
            text,
            check_deliverability=False,
            # Reserved domains (example, test) are personal data in samples as anywhere else.
            test_environment=True,
            globally_deliverable=False,
        )
    except EmailNotValidError:
        return False
    return True


def phone(text: str) -> bool:
    """International numbers stand alone; national ones are tried in the listed regions."""
    import phonenumbers

    stripped = text.strip()
    if stripped.startswith("00"):
        stripped = "+" + stripped[2:]
    regions: tuple[str | None, ...] = (None,) if stripped.startswith("+") else PHONE_REGIONS
    for region in regions:
        try:
            number = phonenumbers.parse(stripped, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number):
            return True
    return False


def luhn(digits: str) -> bool:
    total = 0
    for position, digit in enumerate(reversed(digits)):
        value = int(digit)
        if position % 2:
            value = value * 2 - 9 if value > 4 else value * 2
        total += value
    return total % 10 == 0


def card(text: str) -> bool:
    """Luhn's check digit and a number range that a card scheme gives out."""
    digits = _NOT_DIGITS.sub("", text)
    if not luhn(digits) or len(set(digits)) == 1:
        return False
    return any(
        first <= int(digits[:width]) <= last and len(digits) in lengths
        for first, last, width, lengths in _CARD_RANGES
    )


def ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def mac(text: str) -> bool:
    digits = re.sub(r"[^0-9A-Fa-f]", "", text)
    return len(digits) == 12 and len(set(digits)) > 1


def nino(text: str) -> bool:
    """A British National Insurance number: its prefixes are restricted, it has no check digit."""
    compact = text.replace(" ", "").upper()
    return compact[:2] not in {"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"}


@cache
def stdnum(module: str) -> Validator:
    """The check of python-stdnum's module of that name, as in `iban` or `gb.nhs`."""
    loaded = import_module(f"stdnum.{module}")

    def is_valid(text: str) -> bool:
        return bool(loaded.is_valid(text))

    return is_valid


def by_stdnum(module: str) -> Validator:
    """Like `stdnum`, but the module is loaded only when the first value is checked."""

    def is_valid(text: str) -> bool:
        return stdnum(module)(text)

    return is_valid
