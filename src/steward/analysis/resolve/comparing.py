"""The usual cleaning and comparison of each role."""

from steward.analysis.resolve.rules import Clean, Comparison, Level, Role

_TEXT: tuple[Clean, ...] = ("drop_placeholders", "repair_encoding", "fold", "words")

CLEANING: dict[Role, tuple[Clean, ...]] = {
    "person_name": (*_TEXT, "drop_titles", "squeeze"),
    "given_name": (*_TEXT, "drop_titles", "squeeze"),
    "family_name": (*_TEXT, "drop_titles", "squeeze"),
    "company": (*_TEXT, "drop_legal_form", "squeeze"),
    "email": ("drop_placeholders", "email"),
    "email_domain": ("drop_placeholders", "domain", "drop_free_mail"),
    "phone": ("drop_placeholders", "phone"),
    "tax_id": ("drop_placeholders", "fold", "letters_and_digits"),
    "bank_account": ("drop_placeholders", "fold", "letters_and_digits"),
    "identifier": ("drop_placeholders", "fold", "letters_and_digits"),
    "street": (*_TEXT, "short_street_words", "squeeze"),
    "street_number": ("drop_placeholders", "fold", "letters_and_digits"),
    "address_detail": (*_TEXT, "short_street_words", "squeeze"),
    "city": (*_TEXT, "squeeze"),
    "postcode": ("drop_placeholders", "fold", "letters_and_digits"),
    "region": (*_TEXT,),
    "country": ("drop_placeholders", "repair_encoding", "country"),
    "birth_date": ("drop_placeholders", "date"),
    "text": _TEXT,
    "number": ("drop_placeholders", "number"),
    "code": ("drop_placeholders", "fold", "letters_and_digits"),
    "date": ("drop_placeholders", "date"),
    "other": (),
}

ADDRESS: tuple[Role, ...] = (
    *("street", "street_number", "address_detail", "postcode", "city", "region", "country"),
)

_SAME = Level(test="same")
_OTHERWISE = Level(test="otherwise")
_WORDS = Level(test="same_words")
_WITHIN = Level(test="words_within")


def _slips(count: int) -> Level:
    return Level(test="edits", at_most=count)


def _alike(share: float) -> Level:
    return Level(test="similar", at_least=share)


def _rare(share: float) -> Level:
    return Level(test="rare_words", at_least=share)


_LEVELS: dict[Role, tuple[Level, ...]] = {
    "person_name": (_SAME, _WORDS, _slips(2), _WITHIN, _alike(0.88), _OTHERWISE),
    "given_name": (_SAME, _slips(1), _alike(0.88), Level(test="same_initial"), _OTHERWISE),
    "family_name": (_SAME, _slips(1), _alike(0.88), _OTHERWISE),
    "company": (_SAME, _WORDS, _slips(2), _WITHIN, _alike(0.9), _OTHERWISE),
    "email": (_SAME, _slips(1), _OTHERWISE),
    "email_domain": (_SAME, _OTHERWISE),
    "phone": (_SAME, _slips(1), Level(test="same_end", at_least=7), _OTHERWISE),
    "tax_id": (_SAME, _slips(1), _OTHERWISE),
    "bank_account": (_SAME, _slips(1), _OTHERWISE),
    "identifier": (_SAME, _OTHERWISE),
    "street": (_SAME, _WORDS, _slips(2), _alike(0.85), _OTHERWISE),
    "street_number": (_SAME, _OTHERWISE),
    "address_detail": (_SAME, _WORDS, _slips(2), _alike(0.85), _OTHERWISE),
    "city": (_SAME, _WORDS, _slips(2), _alike(0.85), _OTHERWISE),
    "postcode": (_SAME, _slips(1), _OTHERWISE),
    "region": (_SAME, _OTHERWISE),
    "country": (_SAME, _OTHERWISE),
    "birth_date": (_SAME, _slips(1), Level(test="days_apart", at_most=31), _OTHERWISE),
    "text": (_SAME, _slips(2), _rare(0.8), _rare(0.6), _rare(0.4), _rare(0.2), _OTHERWISE),
    "number": (
        _SAME,
        Level(test="share_apart", at_most=0.02),
        Level(test="share_apart", at_most=0.15),
        _OTHERWISE,
    ),
    "code": (_SAME, _slips(1), Level(test="contained"), _OTHERWISE),
    "date": (_SAME, _slips(1), Level(test="days_apart", at_most=31), _OTHERWISE),
}

# Agreeing on a rare name says more than agreeing on a common one; numbers are rare anyway.
_RARE: frozenset[Role] = frozenset(
    {
        *("person_name", "given_name", "family_name", "company", "street"),
        *("street_number", "address_detail", "city", "postcode", "region", "text"),
    }
)


def usual_comparison(field: str, role: Role) -> Comparison:
    return Comparison(field=field, rare_values_count_more=role in _RARE, levels=_LEVELS[role])


def count_comparison(field: str) -> Comparison:
    """Years and small counts: one apart is near, a hundredth of the value is not."""
    near = Level(test="number_apart", at_most=1)
    return Comparison(field=field, rare_values_count_more=True, levels=(_SAME, near, _OTHERWISE))


def swapped(comparison: Comparison, other: str) -> Comparison:
    """First and last names put into each other's place still count as agreement."""
    first, *rest = comparison.levels
    levels = (first, Level(test="swapped_with", field=other), *rest)
    return comparison.model_copy(update={"levels": levels})


def mail_comparison(field: str, domain: str) -> Comparison:
    """Colleagues have different addresses at the same house; free mail has no house to speak of."""
    house, none = Level(test="same", field=domain), Level(test="missing", field=domain)
    levels = (_SAME, _slips(1), house, none, _OTHERWISE)
    return Comparison(field=field, levels=levels)


def place_comparison(postcode: str, wider: tuple[str, ...]) -> Comparison:
    """Postcode, then town, then country: each contains the one before, so they count once."""
    levels = (_SAME, _slips(1), *(Level(test="same", field=name) for name in wider), _OTHERWISE)
    return Comparison(field=postcode, levels=levels)
