"""How clean values go wrong between systems: slips, scans, spellings, formats, encodings."""

from collections.abc import Callable
from datetime import date

from scripts.samples.addresses import Phone
from scripts.samples.dice import Dice
from scripts.samples.names import SHORT_FORMS

_NEIGHBOURS: dict[str, str] = {
    "a": "sqz",
    "b": "vn",
    "c": "xv",
    "d": "sf",
    "e": "wr",
    "f": "dg",
    "g": "fh",
    "h": "gj",
    "i": "uo",
    "j": "hk",
    "k": "jl",
    "l": "k",
    "m": "n",
    "n": "bm",
    "o": "ip",
    "p": "o",
    "q": "wa",
    "r": "et",
    "s": "ad",
    "t": "rz",
    "u": "zi",
    "v": "cb",
    "w": "qe",
    "x": "yc",
    "y": "xt",
    "z": "tu",
}

_SCANNED: tuple[tuple[str, str], ...] = (
    ("rn", "m"),
    ("m", "rn"),
    ("cl", "d"),
    ("l", "1"),
    ("O", "0"),
    ("S", "5"),
    ("ü", "u"),
    ("ö", "o"),
    ("B", "8"),
    ("i", "l"),
)

_SPELT_OUT = str.maketrans(
    dict(zip("äöüßåøæ", ("ae", "oe", "ue", "ss", "aa", "oe", "ae"), strict=True))
    | dict(zip("ÄÖÜÅØÆ", ("Ae", "Oe", "Ue", "Aa", "Oe", "Ae"), strict=True))
)
_BARE = str.maketrans(
    "äöüÄÖÜåÅøØáàâãÁÀÂéèêëÉÈÊíìîïÍóòôõÓúùûÚçÇñÑąĄćĆęĘłŁńŃśŚźŹżŻýğışŞĞİ",
    "aouAOUaAoOaaaaAAAeeeeEEEiiiiIooooOuuuUcCnNaAcCeElLnNsSzZzZygisSGI",
)

_LEGAL_FORMS: dict[str, tuple[str, ...]] = {
    "GmbH": ("G.m.b.H.", "mbH", "Gmbh", "GMBH", "Ges.m.b.H."),
    "GmbH & Co. KG": ("GmbH & Co KG", "GmbH&Co.KG", "GmbH und Co. KG"),
    "AG": ("A.G.", "Aktiengesellschaft"),
    "KG": ("K.G.", "Kommanditgesellschaft"),
    "e.K.": ("eK", "e. K."),
    "UG": ("UG (haftungsbeschränkt)",),
    "Ltd": ("Limited", "Ltd.", "LTD"),
    "PLC": ("plc", "P.L.C."),
    "LLP": ("L.L.P.",),
    "DAC": ("D.A.C.",),
    "SARL": ("S.A.R.L.", "Sarl"),
    "SAS": ("S.A.S.",),
    "SA": ("S.A.",),
    "Sàrl": ("Sarl", "S.à r.l."),
    "Sagl": ("SAGL",),
    "B.V.": ("BV", "B.V"),
    "V.O.F.": ("VOF",),
    "S.r.l.": ("SRL", "Srl"),
    "S.p.A.": ("SPA", "SpA"),
    "S.n.c.": ("SNC",),
    "S.L.": ("SL", "S. L."),
    "S.A.": ("SA", "S. A."),
    "sp. z o.o.": ("Sp. z o.o.", "sp. zoo", "SP. Z O.O."),
    "AB": ("Aktiebolag",),
    "ApS": ("APS",),
    "A/S": ("AS",),
}

_STREET_WORDS: tuple[tuple[str, str], ...] = (
    ("straße", "str."),
    ("Straße", "Str."),
    (" Street", " St"),
    (" Road", " Rd"),
    (" Lane", " Ln"),
    (" Avenue", " Ave"),
    ("avenue ", "av. "),
    ("boulevard ", "bd "),
    ("place ", "pl. "),
    ("Avenida ", "Avda. "),
    ("Calle ", "C/ "),
    ("Plaza ", "Pza. "),
    ("Piazza ", "P.za "),
    ("Viale ", "V.le "),
    ("straat", "str."),
    ("gatan", "g."),
    ("platz", "pl."),
    ("ul. ", ""),
)


def ascii_spelling(text: str) -> str:
    """The text in plain letters: umlauts spelt out (Müller, Mueller), accents dropped."""
    return text.translate(_SPELT_OUT).translate(_BARE)


def western(text: str) -> str:
    """The text as a Western European (Latin-1) system stores it: other letters lose their marks."""
    if text.isascii():
        return text
    return "".join(char if ord(char) < 256 else char.translate(_BARE) for char in text)


def mojibake(text: str) -> str:
    """UTF-8 read as Windows-1252, or the text itself where nothing would change."""
    try:
        return text.encode("utf-8").decode("cp1252")
    except UnicodeDecodeError:
        return text


def typo(dice: Dice, text: str) -> str:
    """One slip of the keyboard or the scanner, never in the first letter."""
    if len(text) < 4:
        return text
    return dice.pick(_SLIPS)(dice, text)


def _neighbour(dice: Dice, text: str) -> str:
    place = dice.between(1, len(text) - 1)
    near = _NEIGHBOURS.get(text[place])
    return text if near is None else f"{text[:place]}{dice.pick(near)}{text[place + 1 :]}"


def _transposed(dice: Dice, text: str) -> str:
    place = dice.between(1, len(text) - 2)
    left, right = text[place], text[place + 1]
    if not (left.islower() and right.islower()):
        return text
    return f"{text[:place]}{right}{left}{text[place + 2 :]}"


def _dropped(dice: Dice, text: str) -> str:
    place = dice.between(1, len(text) - 1)
    return text[:place] + text[place + 1 :] if text[place].islower() else text


def _doubled(dice: Dice, text: str) -> str:
    place = dice.between(1, len(text) - 1)
    return text[:place] + text[place] + text[place:] if text[place].islower() else text


def _scanned(dice: Dice, text: str) -> str:
    present = [pair for pair in _SCANNED if pair[0] in text[1:]]
    if not present:
        return text
    seen, read = dice.pick(present)
    return text[0] + text[1:].replace(seen, read, 1)


_SLIPS: tuple[Callable[[Dice, str], str], ...] = (
    _neighbour,
    _neighbour,
    _transposed,
    _transposed,
    _dropped,
    _doubled,
    _scanned,
)


def other_legal_form(dice: Dice, core: str, legal: str) -> str:
    """The company with its legal form written another way, or left out."""
    forms = _LEGAL_FORMS[legal]
    return core if dice.chance(0.25) else f"{core} {dice.pick(forms)}"


def company_spelling(dice: Dice, core: str, legal: str) -> str:
    """The company as somebody else would type it: the same once case, accents and form are gone."""
    name = other_legal_form(dice, core, legal) if dice.chance(0.6) else f"{core} {legal}"
    way = dice.below(10)
    if way < 2:
        return ascii_spelling(name)
    if way == 2:
        return name.upper().replace("ẞ", "SS")
    if way == 3:
        return name.replace(" & ", " und " if "GmbH" in legal else " and ")
    return name


def familiar_first_name(first: str) -> str:
    """The short form of a first name, or the name itself where there is none."""
    return SHORT_FORMS.get(first, first)


def short_street(street: str) -> str:
    """The street with its kind abbreviated (Hauptstraße 5, Hauptstr. 5)."""
    for word, short in _STREET_WORDS:
        if word in street:
            return street.replace(word, short, 1)
    return street


def padded(dice: Dice, text: str) -> str:
    """The text with the stray space that copying from a table leaves."""
    return dice.pick((f"{text} ", f" {text}", f"{text}  "))


def phone_text(dice: Dice, phone: Phone) -> str:
    """The number in one of the ways people write it."""
    style = dice.below(8)
    national = f"{phone.trunk}{phone.area}"
    if style < 3:
        return f"+{phone.dial} {phone.area} {phone.line}"
    if style == 3:
        return f"+{phone.dial}{phone.area}{phone.line}"
    if style == 4:
        return f"00{phone.dial} {phone.area} {phone.line}"
    if style == 5:
        return f"({national}) {phone.line[:3]} {phone.line[3:]}"
    if style == 6:
        return f"{national}/{phone.line}"
    return f"{national} {phone.line}"


def dotted_date(day: date) -> str:
    return f"{day.day:02d}.{day.month:02d}.{day.year:04d}"


def slashed_date(day: date) -> str:
    """Month first; callers use it only where the day is above 12, so that it has one reading."""
    return f"{day.month:02d}/{day.day:02d}/{day.year:04d}"
