"""The cleaning steps that make values comparable, each as a DuckDB expression over text."""

from collections.abc import Callable, Iterable

from steward.analysis.resolve.vocabulary import vocabulary
from steward.tables import literal

# Letters that have no accent to strip but a plain neighbour.
_PLAIN = {
    "ß": "ss",
    "ø": "o",
    "æ": "ae",
    "œ": "oe",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "ı": "i",
}
# Every character that counts as white space, not only the blank.
_BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001))))
_SPELT = (("ae", "a"), ("oe", "o"), ("ue", "u"), ("aa", "a"))
# The characters that Windows-1252 has where Latin-1 has control characters, and those.
_WINDOWS = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
_CONTROLS = "".join(chr(sign.encode("cp1252")[0]) for sign in _WINDOWS)
_DATE_FORMATS = ("%Y-%m-%d", "%Y%m%d", "%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y")
# International dialling codes of one and two digits; all others have three.
_DIAL = "1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]"


def cleaned(value: str, steps: Iterable[str]) -> str:
    """The SQL of `value` (text) after the steps; an empty result is NULL."""
    for step in steps:
        value = _STEPS[step](value)
    return f"nullif(trim({value}, {literal(_BLANKS)}), '')"


def repaired(value: str) -> str:
    """UTF-8 that was read as Windows-1252 put right again (MÃ¼ller, Müller).

    The characters become the bytes they were, and the bytes are read as UTF-8; a text for which
    that does not work was not broken in this way and stays as it is.
    """
    single = f"translate(x, {literal(_WINDOWS)}, {literal(_CONTROLS)})"
    hexes = f"list_transform(string_split({single}, ''), lambda c: printf('%02x', unicode(c)))"
    bytewise = f"regexp_full_match({single}, '[\\x{{00}}-\\x{{ff}}]*')"
    decoded = f"CASE WHEN {bytewise} THEN decode(unhex(array_to_string({hexes}, ''))) END"
    return _let(
        value,
        f"CASE WHEN regexp_matches(x, '[ÃÂÄÅâ]') THEN coalesce(try({decoded}), x) ELSE x END",
    )


def looks_misread(value: str) -> str:
    """A condition: the text carries traces of a wrong encoding."""
    return f"regexp_matches({value}, '[ÃÂÄÅ][\\x{{80}}-\\x{{bf}}{_WINDOWS}]')"


def _let(value: str, body: str) -> str:
    """`body` over `x`, with `value` evaluated once."""
    return f"list_transform([{value}], lambda x: {body})[1]"


def _fold(value: str) -> str:
    folded = f"lower({value})"
    for letter, plain in _PLAIN.items():
        folded = f"replace({folded}, {literal(letter)}, {literal(plain)})"
    return f"strip_accents({folded})"


def _words(value: str) -> str:
    # Apostrophes and the dots of initials join (O'Brien, G.m.b.H.), everything else separates.
    joined = f"regexp_replace({value}, '[''’`´]', '', 'g')"
    joined = f"regexp_replace({joined}, '\\b(\\p{{L}})\\.', '\\1', 'g')"
    return f"trim(regexp_replace({joined}, '[^\\p{{L}}\\p{{N}}]+', ' ', 'g'))"


def _without_words(value: str, words: Iterable[str]) -> str:
    """Whole words removed unless nothing would be left."""
    pattern = literal(rf"\b({'|'.join(words)})\b")
    dropped = f"trim(regexp_replace(regexp_replace(x, {pattern}, '', 'g'), ' +', ' ', 'g'))"
    return _let(value, f"coalesce(nullif({dropped}, ''), x)")


def _drop_legal_form(value: str) -> str:
    connected = _without_words(value, vocabulary()["connectors"])
    forms = "|".join(sorted(vocabulary()["legal_forms"], key=lambda form: (-len(form), form)))
    after = f"regexp_replace({connected}, '( ({forms}))+$', '')"
    return f"regexp_replace({after}, '^(sarl|sas|sa|ab|srl|spa|bv|oy|pt) ', '')"


def _drop_titles(value: str) -> str:
    return _without_words(value, vocabulary()["titles"])


def _short_street_words(value: str) -> str:
    short = value
    for ending, form in vocabulary()["street_endings"].items():
        short = rf"regexp_replace({short}, '{ending}\b', '{form}', 'g')"
    forms = {other: form for form, *others in vocabulary()["street_words"] for other in others}
    mapped = f"list_transform(string_split({short}, ' '), lambda w: {_looked_up('w', forms)})"
    return _without_words(f"array_to_string({mapped}, ' ')", vocabulary()["street_fillers"])


def _email(value: str) -> str:
    found = f"regexp_extract(lower({value}), '[^\\s<>,;:\"()]+@[^\\s<>,;:\"()]+')"
    return f"regexp_replace({found}, '\\+[^@]*@', '@')"


def _domain(value: str) -> str:
    """The host of an e-mail address or of a web address."""
    after = f"regexp_replace(lower(trim({value})), '^(.*@|[a-z]+://)', '')"
    return f"regexp_extract({after}, '^(?:www\\.)?([^/:?# ]+\\.[^/:?# ]+)', 1)"


def _drop_free_mail(value: str) -> str:
    hosts = ", ".join(literal(host) for host in vocabulary()["free_mail"])
    return _let(value, f"CASE WHEN x IN ({hosts}) THEN NULL ELSE x END")


def _phone(value: str) -> str:
    """The national number: without international code, trunk zero and extension."""
    bare = f"regexp_replace(lower({value}), '(ext|x|durchwahl).*$', '')"
    dialled = f"regexp_replace(regexp_replace({bare}, '\\(0\\)', ''), '[^0-9+]', '', 'g')"
    local = f"regexp_replace({dialled}, '^(\\+|00)(({_DIAL})|[0-9]{{3}})', '')"
    return f"ltrim(replace({local}, '+', ''), '0')"


def _date(value: str) -> str:
    """Eight digits, year first; what is no date keeps its digits, so that slips stay comparable."""
    formats = ", ".join(literal(form) for form in _DATE_FORMATS)
    parsed = f"strftime(try_strptime(left(trim(x), 10), [{formats}]), '%Y%m%d')"
    return _let(value, f"coalesce({parsed}, regexp_replace(x, '[^0-9]', '', 'g'))")


def _country(value: str) -> str:
    codes = {name: code for code, names in vocabulary()["countries"].items() for name in names}
    return _let(_words(_fold(value)), _looked_up("x", codes))


def _looked_up(value: str, table: dict[str, str]) -> str:
    """The value's entry in the table, or the value itself."""
    keys = ", ".join(literal(key) for key in table)
    entries = ", ".join(literal(entry) for entry in table.values())
    return f"coalesce(([{entries}])[list_position([{keys}], {value})], {value})"


def _squeeze(value: str) -> str:
    """Spelt-out umlauts as their base letter and doubled letters once (Mueller, Müller, Muler)."""
    for pair, single in _SPELT:
        value = f"replace({value}, '{pair}', '{single}')"
    for letter in "bcdfghklmnprstz":
        value = f"replace({value}, '{letter}{letter}', '{letter}')"
    return value


def _sound(value: str) -> str:
    """The first letter and the next consonants, those that sound alike made one."""
    merged = value
    for group, one in (
        ("sch", "s"),
        ("ph", "f"),
        ("th", "t"),
        ("ck", "k"),
        ("dt", "t"),
        ("qu", "k"),
    ):
        merged = f"replace({merged}, '{group}', '{one}')"
    merged = f"translate({merged}, 'czqxvwgjydbp', 'ksksffkiitpp')"
    return _let(
        merged, "left(left(x, 1) || regexp_replace(substr(x, 2), '[aeiouhy ]', '', 'g'), 6)"
    )


def _drop_placeholders(value: str) -> str:
    fillers = ", ".join(literal(filler) for filler in vocabulary()["placeholders"])
    return _let(value, f"CASE WHEN lower(trim(x)) IN ({fillers}) THEN NULL ELSE x END")


def _number(value: str) -> str:
    """A number as text that casts, without currency and thousands separators."""
    bare = f"regexp_replace({value}, '[^0-9.,-]', '', 'g')"
    dotted = f"regexp_replace({bare}, ',([0-9]{{3}})\\b', '\\1', 'g')"
    plain = f"TRY_CAST(replace({dotted}, ',', '.') AS DOUBLE)"
    return f"CAST({plain} AS VARCHAR)"


_STEPS: dict[str, Callable[[str], str]] = {
    "repair_encoding": repaired,
    "fold": _fold,
    "words": _words,
    "drop_titles": _drop_titles,
    "drop_legal_form": _drop_legal_form,
    "short_street_words": _short_street_words,
    "email": _email,
    "domain": _domain,
    "drop_free_mail": _drop_free_mail,
    "phone": _phone,
    "letters_and_digits": lambda value: (
        f"regexp_replace(lower({value}), '[^\\p{{L}}\\p{{N}}]', '', 'g')"
    ),
    "digits": lambda value: f"regexp_replace({value}, '[^0-9]', '', 'g')",
    "date": _date,
    "country": _country,
    "squeeze": _squeeze,
    "sound": _sound,
    "drop_placeholders": _drop_placeholders,
    "number": _number,
}
