"""Which rows a request means: periods, comparisons, missing values, and words that are values of the data."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from steward.agents.planning.words import LITTLE
from steward.agents.rules.asking import Ask, name_words, phrase_words
from steward.agents.rules.expressions import Piece, column, compared, day_of, equal, value, within
from steward.agents.rules.naming import Found, columns_in, date_column, name_spans
from steward.agents.rules.periods import Period, period_in
from steward.agents.rules.vocabulary import DATE_WORDS, EMPTY, FILLED, STOP
from steward.data.clean.countries import country_of
from steward.definitions import ColumnFacts, DatasetFacts

_SIGNS: Final[dict[str, tuple[str, ...]]] = {
    ">=": ("at least", "no less than", "or more", ">=", "minimum of"),
    "<=": ("at most", "no more than", "up to", "<=", "maximum of"),
    ">": ("more than", "greater than", "over", "above", "bigger than", "higher than", "exceeding", "larger than", ">"),
    "<": ("less than", "fewer than", "under", "below", "smaller than", "lower than", "<"),
}  # fmt: skip
_IS: Final = ("is", "are", "=", "equals", "equal to", "was", "were", "being", "called", "named")
_IS_NOT: Final = ("is not", "isn't", "are not", "aren't", "!=", "<>", "not", "is no")
_NOT_BEFORE: Final = frozenset({"not", "except", "excluding", "without", "exclude", "non", "no"})
_LINKS: Final = frozenset(
    {"and", "or", "v", "vs", "versus", "with", "to", "against", "in", "the", "for", "compared"}
)
_MOST_VALUES: Final = 60
_AROUND: Final = 3


@dataclass
class Conditions:
    """What was found, and which tokens said it."""

    filters: list[Piece] = field(default_factory=list)
    about: list[str] = field(default_factory=list)
    """The column of each filter, in the same order."""
    used: set[int] = field(default_factory=set)
    groups: list[tuple[str, float]] = field(default_factory=list)
    """Comparisons with a number of things: for groups, not for rows."""
    periods: list[Period] = field(default_factory=list)
    """Stretches of time, where several were named."""

    def add(self, about: str, pieces: Iterable[Piece], tokens: Iterable[int]) -> None:
        for piece in pieces:
            self.filters.append(piece)
            self.about.append(about)
        self.used |= set(tokens)

    def is_free(self, start: int, end: int) -> bool:
        return not any(each in self.used for each in range(start, end))


def conditions_in(
    ask: Ask, dataset: DatasetFacts, taken: Iterable[int] = (), *, grouped: bool = False
) -> Conditions:
    """Conditions of the request; `taken` tokens already mean something else.

    `grouped`: there are figures by groups already, so that "more than 3" is about those.
    """
    found = Conditions(used=set(taken))
    _periods(ask, dataset, found)
    columns = [each for each in columns_in(ask, dataset) if found.is_free(each.start, each.end)]
    for each in columns:
        _missing(ask, each, found)
    _comparisons(ask, dataset, columns, found, grouped=grouped)
    for each in columns:
        if found.is_free(each.start, each.end):
            _equality(ask, each, found)
    _values(ask, dataset, columns, found)
    _events(ask, dataset, found)
    found.used -= set(taken)
    return found


def _periods(ask: Ask, dataset: DatasetFacts, found: Conditions) -> None:
    time = date_column(ask, dataset)
    if time is None:
        return
    periods: list[Period] = []
    begin = 0
    while (period := period_in(ask, begin)) is not None:
        begin = period.last
        if not found.is_free(period.first, period.last):
            begin = period.first + 1
        elif not periods or _linked(ask, periods[-1].last, period.first):
            periods.append(period)
    tokens = {n for each in periods for n in range(each.first, each.last)}
    if len(periods) == 1:
        found.add(time.name, within(periods[0], day_of(time)), tokens)
    elif periods:
        either = {"any": [{"all": within(each, day_of(time))} for each in periods]}
        found.add(time.name, [either], tokens)
        found.periods = periods


def _linked(ask: Ask, end: int, start: int) -> bool:
    """Whether two stretches of time are named together: "2024 and 2025", "May vs June"."""
    return 0 < start - end <= _AROUND and set(ask.words[end:start]) <= _LINKS


def _missing(ask: Ask, each: Found, found: Conditions) -> None:
    name = each.column.name
    before = ask.words[each.start - 1] if each.start else ""
    for phrases, negate in ((FILLED, True), (EMPTY, False)):
        for phrase in phrases:
            words = phrase_words(phrase)
            if ask.words[each.end : each.end + len(words)] == words:
                test: Piece = {"is_null": column(name)}
                tokens = range(each.start, each.end + len(words))
                found.add(name, [{**test, "negate": True} if negate else test], tokens)
                return
    if before in {"without", "missing", "lacking", "no"} or (before in {"a", "an", "any"} and each.start > 1
                                                       and ask.words[each.start - 2] == "without"):  # fmt: skip
        found.add(name, [{"is_null": column(name)}], range(each.start - 1, each.end))


def _comparisons(
    ask: Ask, dataset: DatasetFacts, columns: list[Found], found: Conditions, *, grouped: bool
) -> None:
    for sign, phrases in _SIGNS.items():
        for start, end in ask.places(phrases):
            number = ask.tokens[end].number if end < len(ask.tokens) else None
            if number is None or not found.is_free(start, end + 1):
                continue
            chosen = _compared_column(columns, start, end + 1)
            if chosen is None and grouped:
                found.groups.append((sign, number))
                found.used |= set(range(start, end + 1))
                continue
            if chosen is None:
                noun = ask.words[end + 1] if end + 1 < len(ask.words) else ""
                if (
                    noun
                    and not _is_own(noun, dataset)
                    and money(dataset)
                    and noun in {"eur", "€", "usd", "euro"}
                ):
                    chosen = money(dataset)
                elif noun and noun not in STOP:
                    found.groups.append((sign, number))
                    found.used |= set(range(start, end + 2))
                    continue
                else:
                    chosen = money(dataset)
            if chosen is not None:
                piece = compared(column(chosen.name), sign, value(number))
                named = [
                    n
                    for each in columns
                    if each.column is chosen
                    for n in range(each.start, each.end)
                ]
                near = [n for n in named if abs(n - start) <= _AROUND]
                found.add(chosen.name, [piece], [*range(start, end + 1), *near])


def _compared_column(columns: list[Found], start: int, end: int) -> ColumnFacts | None:
    """The column of numbers right before the comparison, or right after its number."""
    numbers = [each for each in columns if each.column.kind == "number"]
    before = [each for each in numbers if 0 <= start - each.end <= _AROUND - 1]
    after = [each for each in numbers if each.start == end]
    chosen = after[0] if after else before[-1] if before else None
    return None if chosen is None else chosen.column


def money(dataset: DatasetFacts) -> ColumnFacts | None:
    """The amount that is meant where none is named."""
    for wanted in ("amount", "gross", "net", "total", "revenue", "price", "value"):
        for facts in dataset.columns:
            if (
                facts.kind == "number"
                and wanted in name_words(facts.name)
                and not facts.is_reference
            ):
                return facts
    return None


def _is_own(noun: str, dataset: DatasetFacts) -> bool:
    return noun in name_words(dataset.name)


def _equality(ask: Ask, each: Found, found: Conditions) -> None:
    if each.column.is_time or each.column.is_date_text:
        return
    at, negate, explicit = each.end, False, False
    for phrases, no in ((_IS_NOT, True), (_IS, False), (("in", "among"), False)):
        words = next(
            (w for w in map(phrase_words, phrases) if ask.words[at : at + len(w)] == w), None
        )
        if words is not None:
            at, negate, explicit = at + len(words), no, True
            break
    if at < len(ask.words) and ask.words[at] == "not":
        at, negate = at + 1, True
    values, end = _listed(ask, each.column, at, explicit=explicit)
    if values and found.is_free(at, end):
        found.add(
            each.column.name, [equal(each.column, values, negate=negate)], range(each.start, end)
        )


def _listed(ask: Ask, facts: ColumnFacts, at: int, *, explicit: bool) -> tuple[list[Any], int]:
    """Values from this token on: one, or several with commas, `and` and `or` between them."""
    values: list[Any] = []
    while at < len(ask.tokens):
        one = _value_at(ask, facts, at, explicit=explicit)
        if one is None:
            break
        values.append(one[0])
        at = one[1]
        following = at
        while following < len(ask.words) and ask.words[following] in {"and", "or"}:
            following += 1
        comma = (
            at < len(ask.tokens) and "," in ask.text[ask.tokens[at - 1].end : ask.tokens[at].start]
        )
        if following == at and not comma:
            break
        if _value_at(ask, facts, following, explicit=False) is None:
            break
        at = following
    return values, at


def _value_at(ask: Ask, facts: ColumnFacts, at: int, *, explicit: bool) -> tuple[Any, int] | None:
    if at >= len(ask.tokens):
        return None
    known = _known_value(ask, facts, at)
    if known is not None:
        return known
    if facts.kind == "number":
        number = ask.tokens[at].number
        return None if number is None or not explicit else (number, at + 1)
    country = _country_at(ask, facts, at)
    if country is not None:
        return country
    if not explicit or facts.kind != "text":
        return None
    quoted = _quoted(ask, at)
    if quoted is not None:
        return quoted
    if ask.tokens[at].text in LITTLE:
        return None
    end = at
    while end < len(ask.tokens) and ask.words[end] not in STOP and end - at < 6:
        end += 1
        if (
            end < len(ask.tokens)
            and "," in ask.text[ask.tokens[end - 1].end : ask.tokens[end].start]
        ):
            break
    return (ask.written(at, end), end) if end > at else None


def _quoted(ask: Ask, at: int) -> tuple[str, int] | None:
    start = ask.tokens[at].start
    mark = ask.text[start - 1] if start else ""
    if mark not in "'\"":
        return None
    close = ask.text.find(mark, start)
    if close < 0:
        return None
    end = next(
        (n for n in range(at, len(ask.tokens)) if ask.tokens[n].start > close), len(ask.tokens)
    )
    return ask.text[start:close], end


def _known_value(ask: Ask, facts: ColumnFacts, at: int) -> tuple[str, int] | None:
    """A value of the column that stands at this place, the longest one."""
    best: tuple[str, int] | None = None
    for text in facts.values:
        words = phrase_words(text)
        if (
            words
            and ask.words[at : at + len(words)] == words
            and (best is None or at + len(words) > best[1])
        ):
            best = (text, at + len(words))
    return best


def _country_at(ask: Ask, facts: ColumnFacts, at: int) -> tuple[str, int] | None:
    if "country" not in facts.meanings and "country" not in name_words(facts.name):
        return None
    for size in (3, 2, 1):
        if at + size > len(ask.tokens):
            continue
        text = ask.written(at, at + size)
        # Two small letters are a word of the language, two capitals a code.
        if (len(text) > 3 or text.isupper()) and country_of(text) is not None:
            return text, at + size
    return None


def _values(ask: Ask, dataset: DatasetFacts, columns: list[Found], found: Conditions) -> None:
    """Words that are values of some column: "open invoices", "customers in Germany"."""
    names = {n for start, end in name_spans(ask, dataset) for n in range(start, end)}
    strong = {n for each in columns if each.score >= 1.8 for n in range(each.start, each.end)}
    at = 0
    while at < len(ask.tokens):
        hit = None
        if at not in found.used and at not in names:
            hit = next(_value_hits(ask, dataset, at), None)
        if hit is None or not found.is_free(at, hit[2]) or (at in strong and not _via(ask, at)):
            at += 1
            continue
        facts, text, end = hit
        values, end = _more(ask, facts, text, end)
        before = ask.words[at - 1] if at else ""
        negate = before in _NOT_BEFORE
        found.add(facts.name, [equal(facts, values, negate=negate)], range(at - negate, end))
        at = end


def _events(ask: Ask, dataset: DatasetFacts, found: Conditions) -> None:
    """What happened or did not, by the date of it: "unpaid", "not yet closed", "open"."""
    for facts in dataset.columns:
        words = name_words(facts.name)
        if len(words) != 2 or words[1] not in DATE_WORDS or facts.name in found.about:
            continue
        event = words[0]
        missing = {f"un{event}"} | ({"open"} if event == "closed" else set())
        for at, word in enumerate(ask.words):
            before = set(ask.words[max(0, at - 2) : at])
            negated = word == event and bool(before & {"not", "never", "isn't", "aren't"})
            if not found.is_free(at, at + 1) or _is_verb(ask, at):
                continue
            if word in missing or negated:
                found.add(facts.name, [{"is_null": column(facts.name)}], range(at, at + 1))
                break
            if word == event and event.endswith("ed") and _is_adjective(ask, at, dataset):
                there = {"is_null": column(facts.name), "negate": True}
                found.add(facts.name, [there], range(at, at + 1))
                break


def _is_verb(ask: Ask, at: int) -> bool:
    """ "Open the tickets" is something to do; "open tickets" are those that are open."""
    following = ask.words[at + 1] if at + 1 < len(ask.words) else ""
    return ask.words[at] == "open" and following in {"the", "my", "our"}


def _is_adjective(ask: Ask, at: int, dataset: DatasetFacts) -> bool:
    """ "Closed tickets", "are closed": what is so, not when it became so."""
    following = ask.words[at + 1] if at + 1 < len(ask.words) else ""
    before = ask.words[at - 1] if at else ""
    return _is_own(following, dataset) or before in {"is", "are", "already"}


def values_elsewhere(
    ask: Ask, dataset: DatasetFacts, other: DatasetFacts, taken: Iterable[int]
) -> Conditions:
    """Words that are values of a dataset that is reached by a key: "revenue of enterprise customers"."""
    found = Conditions(
        used=set(taken) | {n for s, e in name_spans(ask, dataset) for n in range(s, e)}
    )
    before = set(found.used)
    _values(ask, other, columns_in(ask, other), found)
    found.used -= before
    return found


def _via(ask: Ask, at: int) -> bool:
    return at > 0 and ask.words[at - 1] in {"via", "through"}


def _value_hits(ask: Ask, dataset: DatasetFacts, at: int) -> Iterator[tuple[ColumnFacts, str, int]]:
    hits = []
    for facts in dataset.columns:
        few = facts.distinct is not None and facts.distinct <= _MOST_VALUES
        if facts.kind != "text" or not few or facts.constant or facts.is_date_text:
            continue
        hit = _known_value(ask, facts, at)
        if hit is not None and not _ordinary(ask, at, hit[0]):
            hits.append((facts, *hit))
    yield from sorted(hits, key=lambda hit: (-hit[2], hit[0].distinct or 0))
    for facts in dataset.columns:
        country = _country_at(ask, facts, at)
        if country is not None:
            yield (facts, *country)


def _ordinary(ask: Ask, at: int, text: str) -> bool:
    """Short values such as `1`, `no` or `DE` count only where they are written as they are."""
    if len(text) > 3:
        return False
    return ask.written(at, at + 1) != text or not text.isupper()


def _more(ask: Ask, facts: ColumnFacts, text: str, end: int) -> tuple[list[Any], int]:
    values, at = [text], end
    while at + 1 < len(ask.tokens) and ask.words[at] in {"and", "or"}:
        further = _known_value(ask, facts, at + 1) or _country_at(ask, facts, at + 1)
        if further is None:
            break
        values.append(further[0])
        at = further[1]
    return values, at
