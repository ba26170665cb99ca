"""VAT numbers and IBANs with correct check digits, and ways to spoil them."""

from scripts.samples.dice import Dice

# Italian VAT numbers carry the code of a province.
_IT_PROVINCES = ("001", "015", "024", "037", "048", "058", "063", "082")

# Bank codes are invented, so that no account can belong to anyone.
_BBAN_PATTERNS: dict[str, str] = {
    "AT": "99%##%##########",
    "CH": "099##%###########",
    "DE": "999%####%#########",
    "DK": "99##%#########",
    "FR": "999##%####%##########",
    "GB": "STWD99####%#######",
    "IE": "STWI99####%#######",
    "IT": "X099##%####%###########",
    "NL": "STWN0%########",
    "PL": "999#####%###############",
    "SE": "999%################",
}


class NumberIssuer:
    """Issues VAT numbers and IBANs, none of them twice."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._issued: set[str] = set()

    def vat(self, country: str) -> str:
        while True:
            number = _draw_vat(self._dice, country)
            if number is not None and self._first_time(number):
                return number

    def iban(self, country: str) -> str:
        while True:
            number = _draw_iban(self._dice, country)
            if self._first_time(number):
                return number

    def _first_time(self, number: str) -> bool:
        if number in self._issued:
            return False
        self._issued.add(number)
        return True


def spoiled_vat(dice: Dice, number: str) -> str:
    """The VAT number with its check digit mistyped."""
    # The last digit before a fixed ending (NL "B01", SE "01") is a check digit or covered by one.
    end = len(number) - {"NL": 3, "SE": 2, "CH": 5}.get(number[:2], 0)
    place = max(i for i in range(end) if number[i].isdigit())
    while True:
        spoiled = _other_digit(dice, number, place)
        # Dutch numbers may pass a second check instead of the first one.
        if not spoiled.startswith("NL") or _mod97(spoiled) != 1:
            return spoiled


def spoiled_iban(dice: Dice, number: str) -> str:
    """The IBAN with one account digit mistyped."""
    return _other_digit(dice, number, dice.between(len(number) - 8, len(number) - 1))


def grouped(number: str, size: int = 4) -> str:
    """The number in blocks, as printed on letterheads."""
    return " ".join(number[i : i + size] for i in range(0, len(number), size))


def _other_digit(dice: Dice, number: str, place: int) -> str:
    digit = (int(number[place]) + dice.between(1, 9)) % 10
    return f"{number[:place]}{digit}{number[place + 1 :]}"


def _draw_iban(dice: Dice, country: str) -> str:
    bban = _spanish_bban(dice) if country == "ES" else dice.fill(_BBAN_PATTERNS[country])
    if country == "FR":
        bank, branch, account = int(bban[:5]), int(bban[5:10]), int(bban[10:])
        bban += f"{97 - (89 * bank + 15 * branch + 3 * account) % 97:02d}"
    check = 98 - _mod97(f"{bban}{country}00")
    return f"{country}{check:02d}{bban}"


def _spanish_bban(dice: Dice) -> str:
    bank, account = dice.fill("99######"), dice.fill("##########")
    return f"{bank}{_spanish_check('00' + bank)}{_spanish_check(account)}{account}"


def _spanish_check(digits: str) -> int:
    rest = sum(int(digit) << i for i, digit in enumerate(digits)) % 11
    return rest if rest < 2 else 11 - rest


def _mod97(text: str) -> int:
    """The remainder of 97 after letters are replaced by numbers, A being 10."""
    return int("".join(str(int(char, 36)) for char in text)) % 97


def _draw_vat(dice: Dice, country: str) -> str | None:
    """A VAT number, or None where the drawn digits have no single check digit."""
    if country == "DE":
        body = dice.fill("%#######")
        return f"DE{body}{_mod11_10(body)}"
    if country == "AT":
        body = dice.fill("%######")
        return f"ATU{body}{(6 - _luhn_sum(body)) % 10}"
    if country == "GB":
        body = dice.fill("%######")
        return f"GB{body}{97 - _weighted(body, (8, 7, 6, 5, 4, 3, 2)) % 97:02d}"
    if country == "IE":
        body = dice.fill("%######")
        letter = "WABCDEFGHIJKLMNOPQRSTUV"[_weighted(body, (8, 7, 6, 5, 4, 3, 2)) % 23]
        return f"IE{body}{letter}"
    if country == "FR":
        body = dice.fill("%#######")
        siren = f"{body}{_luhn(body)}"
        return f"FR{int(siren + '12') % 97:02d}{siren}"
    if country == "IT":
        body = dice.fill("0%#####") + dice.pick(_IT_PROVINCES)
        return f"IT{body}{_luhn(body)}"
    if country == "ES":
        body = dice.pick(("08", "28", "29", "41", "46", "48")) + dice.fill("#####")
        return f"ESB{body}{_luhn(body)}"
    if country == "SE":
        body = "556" + dice.fill("######")
        return f"SE{body}{_luhn(body)}01"
    return _draw_vat_mod11(dice, country)


def _draw_vat_mod11(dice: Dice, country: str) -> str | None:
    """The countries whose check digit is a remainder of 11, which may come out as 10."""
    if country == "CH":
        body = dice.fill("1#######")
        check = -_weighted(body, (5, 4, 3, 2, 7, 6, 5, 4)) % 11
        number = f"CHE-{body[:3]}.{body[3:6]}.{body[6:]}{check} MWST"
    elif country == "NL":
        body = dice.fill("8#######")
        check = _weighted(body, (9, 8, 7, 6, 5, 4, 3, 2)) % 11
        number = f"NL{body}{check}B01"
    elif country == "PL":
        body = dice.fill("%########")
        check = _weighted(body, (6, 5, 7, 2, 3, 4, 5, 6, 7)) % 11
        number = f"PL{body}{check}"
    elif country == "DK":
        body = dice.fill("%######")
        check = -_weighted(body, (2, 7, 6, 5, 4, 3, 2)) % 11
        number = f"DK{body}{check}"
    else:
        raise ValueError(f"no VAT numbers are known for country {country!r}")
    return number if check < 10 else None


def _weighted(digits: str, weights: tuple[int, ...]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True))


def _mod11_10(digits: str) -> int:
    rest = 10
    for digit in digits:
        rest = ((int(digit) + rest) % 10 or 10) * 2 % 11
    return (11 - rest) % 10


def _luhn(digits: str) -> int:
    return -_luhn_sum(digits + "0") % 10


def _luhn_sum(digits: str) -> int:
    """The digits added up, every second one from the right doubled."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total
