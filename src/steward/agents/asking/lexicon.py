"""Which tables, columns, metrics, segments and values the words of a question can name."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal

from rapidfuzz.distance import OSA

from steward.agents.asking.grammar import grammar
from steward.agents.asking.tokens import name_words, number_of
from steward.agents.asking.world import World, is_number_text
from steward.analysis.clean import country_of
from steward.definitions import ColumnFacts

LONGEST_PHRASE: Final = 6
_LEAST_TYPED: Final = 5
"""Shorter words are not taken for misspelled ones."""
_LEAST_ADJECTIVE: Final = 6
_LEAST_VALUE: Final = 3
_LEAST_PART: Final = 4
ONE_LETTER: Final = 0.5
"""How sure a single letter is a value: only beside its column."""
_LONGEST_ENDING: Final = 3
_EXACT: Final = 0.9
_LONGEST_CODE: Final = 4
_WHOLE: Final = 0.85
"""How sure a word is at least that is more than a part of a name."""
_SUPERLATIVE: Final = "est"
_NEGATING: Final = ("un", "non")
"""What turns an adjective into its opposite."""
_LONGEST_NAME: Final = 200
_VOWELS: Final = frozenset("aeiou")
_LABELS: Final = frozenset({"id", "no", "nr", "key", "code", "number", "name"})
"""Parts of names that by themselves name no column."""
Words = tuple[str, ...]


@dataclass(frozen=True)
class Sense:
    """One thing that words can mean, and how surely they do: 1 for its own name."""

    kind: Literal["table", "column", "metric", "segment", "value"]
    table: str
    name: str = ""
    value: Any = None
    score: float = 1.0
    headless: bool = False
    """Whether words are missing before: revenue for annual_revenue."""
    note: str = ""
    """What the answer must say about it, such as how a misspelled word was read."""

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """Spellings of one value are one thing."""
        return self.kind, self.table, self.name, " ".join(name_words(str(self.value)))


class Lexicon:
    """The words of one project; built once for a turn."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._phrases: dict[Words, list[Sense]] = defaultdict(list)
        self._jumbled: dict[Words, list[Sense]] = defaultdict(list)
        self._run_together: dict[str, list[Sense]] = defaultdict(list)
        self._initials: dict[str, list[Sense]] = defaultdict(list)
        self._name_words: set[str] = set()
        self._country_columns: list[tuple[str, ColumnFacts]] = []
        self._compounds: dict[str, str] = {}
        """Names of tables run together: what a word can be a part of."""
        for table in world.datasets:
            self._add_table(table)
        for name, metric in world.definitions.metrics.items():
            for said in (name, *metric.synonyms):
                self._add(said, Sense("metric", metric.over, name))
        noun = world.row_noun
        known = self.senses(name_words(noun), noun) if noun is not None else []
        if noun is not None and all(each.kind == "value" for each in known):
            (table,) = world.datasets
            note = f"I read “{noun}” as the rows of {table}."
            self._add(noun, Sense("table", table, score=_EXACT, note=note))

    # Looking up

    def senses(self, words: Sequence[str], written: str = "") -> list[Sense]:
        """Everything that these words, all of them together, can name; the surest first."""
        key = tuple(words)
        found = [
            *self._phrases.get(key, ()),
            *self._roundabout(key),
            *self._countries(written),
            *self._adjectives(key, written),
        ]
        if not found:
            found = list(self._parts_of_tables(key, written))
        best: dict[tuple[str, str, str, str], Sense] = {}
        for each in found:
            known = best.get(each.identity)
            if known is None or known.score < each.score:
                best[each.identity] = each
        # Of two that are called alike, the figure that somebody defined.
        return sorted(best.values(), key=lambda each: (-each.score, each.kind != "metric"))

    def _roundabout(self, key: Words) -> Iterator[Sense]:
        """Names in another order, run together, cut short or by their first letters."""
        joined = "".join(key)
        if len(key) > 1:
            yield from _lowered(self._jumbled.get(tuple(sorted(key)), ()), 0.97)
            yield from _lowered(self._run_together.get(joined, ()), 0.98)
            yield from self._shortened(key, joined)
        elif len(joined) > 2:
            yield from _lowered(self._initials.get(joined, ()), 0.9)
            yield from _lowered(self._run_together.get(joined, ()), 0.98)
        if len(key) > 3 or (any(word in self._name_words for word in key) and len(key) == 1):
            return
        options = [self._alike(word) for word in key]
        if any(not each for each in options) or all(
            each == [word] for each, word in zip(options, key, strict=True)
        ):
            return
        for spelled in _product(options):
            if spelled != key:
                short = any(abbreviates(*pair) for pair in zip(spelled, key, strict=True))
                # "Started" names no part of start_year: it is neither spelled so nor all of the name.
                least = 0.0 if short or len(key) > 1 else _WHOLE
                named = [each for each in self._phrases.get(spelled, ()) if each.score >= least]
                yield from _noted(
                    [
                        *_lowered(named, 0.9, only="column"),
                        *_lowered(self._jumbled.get(tuple(sorted(spelled)), ()), 0.88),
                    ],
                    key if short else (),
                )

    def _shortened(self, key: Words, joined: str) -> Iterator[Sense]:
        """Names run together with the last word cut short: gdpPercap for "gdp per capita", brainwt for "brain weight"."""
        for name in self._run_together if len(key) == 2 else ():
            if name.startswith(key[0]) and abbreviates(name[len(key[0]) :], key[1], least=2):
                yield from _noted(_lowered(self._run_together[name], 0.9), key)
        whole = len(joined) - len(key[-1])
        for size in range(max(6, whole + 3), len(joined)):
            yield from _lowered(self._run_together.get(joined[:size], ()), 0.85)
        if len(key) > 2:
            yield from _lowered(self._run_together.get("".join(word[0] for word in key), ()), 0.9)

    def _alike(self, word: str) -> list[str]:
        """Words of names that this one is, shortens or spells out: arrival and arr, temp and temperature."""
        if word in self._name_words or len(word) < 3:
            return [word]
        return [
            each
            for each in self._name_words
            if len(each) > 2
            and (
                (word.startswith(each) and len(word) > len(each) + 1)
                or (each.startswith(word) and len(each) > len(word) + 1)
                or abbreviates(each, word)
            )
        ][:8]

    def _parts_of_tables(self, key: Words, written: str) -> Iterator[Sense]:
        """ "Pizzas" for pizzaplace: the only table whose name begins or ends with the word."""
        word = key[0]
        if len(key) > 1 or len(word) < _LEAST_VALUE:
            return
        is_long = len(written or word) >= _LEAST_PART
        named = [
            table
            for table, name in self._compounds.items()
            if name != word
            and (
                (is_long and name.startswith(word))
                # "Car" for mtcars, and not "age" for packages: letters without a vowel are no word.
                or (name.endswith(word) and (is_long or not _VOWELS & set(name[: -len(word)])))
            )
        ]
        if len(named) == 1:
            note = f"I read “{written or word}” as the rows of {named[0]}."
            yield Sense("table", named[0], score=0.7, note=note)

    def _adjectives(self, key: Words, written: str) -> Iterator[Sense]:
        """ "Japanese" for Japan, "sunny" for sun: a value with another ending."""
        word = key[0]
        if len(key) > 1 or len(word) < _LEAST_VALUE or key in self._phrases:
            return
        for value, senses in self._single_values.items():
            longer, shorter = (word, value) if len(word) > len(value) else (value, word)
            ends = longer.startswith(shorter) and len(longer) - len(shorter) <= _LONGEST_ENDING
            if word.endswith(_SUPERLATIVE) and word.startswith(value):
                # The strongest is one of them, and not all that are strong.
                continue
            if (ends and len(word) >= _LEAST_ADJECTIVE) or word in _described(value):
                for each in senses:
                    if str(each.value).isupper() and len(str(each.value)) <= _LONGEST_CODE:
                        # Codes have no adjectives.
                        continue
                    note = f"I read “{written or word}” as {each.name} “{each.value}”."
                    yield replace(each, score=0.7, note=note)

    @cached_property
    def _single_values(self) -> dict[str, list[Sense]]:
        return {
            phrase[0]: [each for each in senses if each.kind == "value"]
            for phrase, senses in self._phrases.items()
            if len(phrase) == 1
            and len(phrase[0]) >= _LEAST_VALUE
            and phrase[0].isalpha()
            and any(each.kind == "value" for each in senses)
        }

    def _countries(self, written: str) -> Iterator[Sense]:
        if len(written) < 4 or not self._country_columns:
            return
        country = country_of(written)
        if country is not None:
            for table, facts in self._country_columns:
                yield Sense("value", table, facts.name, country.name, 0.9)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every word of four letters or more that names something."""
        words = {word for phrase in self._phrases for word in phrase}
        return frozenset(word for word in words if len(word) > 3 and word.isalpha())

    def negated(self, word: str) -> Iterator[tuple[str, Sense]]:
        """Values and truth values that a word denies: "unpaid" of "paid"."""
        for prefix in _NEGATING:
            stem = word.removeprefix(prefix)
            if stem != word and len(stem) >= _LEAST_VALUE:
                for sense in self._phrases.get(name_words(stem), ()):
                    if sense.kind in {"value", "column"} and sense.score >= _EXACT:
                        yield stem, sense

    def opposite(self, word: str) -> str | None:
        """What is denied, where there is nothing but yes or no: a truth value, or one of two values."""
        for stem, sense in self.negated(word):
            facts = self._world.facts(sense.table, sense.name)
            if facts is None:
                continue
            either = len({each.strip().casefold() for each in facts.values}) == 2
            if facts.kind == "boolean" or (sense.kind == "value" and either):
                return stem
        return None

    def knows(self, word: str) -> bool:
        return word in self._known

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(word for phrase in self._phrases for word in phrase)

    # Building

    def _add(self, said: str, sense: Sense) -> None:
        words = name_words(said)
        if 0 < len(words) <= LONGEST_PHRASE:
            self._phrases[words].append(sense)
            self._name_words.update(words)

    def _add_table(self, table: str) -> None:
        definition = self._world.table(table)
        own = Sense("table", table)
        for said in (table, definition.row, *definition.synonyms):
            self._add(said, own)
        words = name_words(table)
        # "invoices" for billing_invoices: the last word of a name says what it holds.
        if len(words) > 1:
            self._phrases[words[-1:]].append(replace(own, score=0.85))
            self._name_words.add(words[-1])
        self._compounds[table] = "".join(words)
        for name, segment in definition.segments.items():
            for said in (name, *segment.synonyms):
                self._add(said, Sense("segment", table, name))
        for facts in self._world.datasets[table].columns:
            if 0 < len(facts.name) <= _LONGEST_NAME:
                self._add_column(table, facts)

    def _add_column(self, table: str, facts: ColumnFacts) -> None:
        definition = self._world.column(table, facts.name)
        own = Sense("column", table, facts.name)
        for said in (facts.name, definition.label, *definition.synonyms):
            if said:
                self._add(said, own)
                self._add_variants(name_words(said), own)
        self._add_values(table, facts)
        for value, others in definition.values.items():
            meant = number_of(value) if facts.kind == "number" else value
            for said in (value, *others):
                self._add_value(said, Sense("value", table, facts.name, meant, 0.97))

    def _add_variants(self, words: Words, own: Sense) -> None:
        self._run_together["".join(words)].append(own)
        if len(words) < 2:
            return
        self._jumbled[tuple(sorted(words))].append(own)
        if len(words) > 2:
            self._initials["".join(word[0] for word in words)].append(own)
        for size in range(1, len(words)):
            for start in range(len(words) - size + 1):
                part = words[start : start + size]
                if not set(part) <= _LABELS and not all(len(word) < 2 for word in part):
                    last = 0.04 if start + size == len(words) else 0.0
                    score = 0.6 + 0.25 * size / len(words) + last
                    self._phrases[part].append(replace(own, score=score, headless=start > 0))

    def _add_values(self, table: str, facts: ColumnFacts) -> None:
        if facts.kind not in {"text", "other"}:
            return
        is_country = "country" in facts.meanings or "country" in name_words(facts.name)
        values = self._world.values(table, facts)
        if is_country and not values:
            self._country_columns.append((table, facts))
        for value in values:
            country = country_of(value) if is_country else None
            meant = value if country is None else country.name
            sense = Sense("value", table, facts.name, meant, 0.95)
            others = () if country is None else (country.name, *country.others)
            for said in dict.fromkeys((value, *others)):
                self._add_value(said, sense)
        if not facts.is_date_text and not is_number_text(facts):
            self._add_beginnings(table, facts, values)

    def _add_value(self, said: str, sense: Sense) -> None:
        words = name_words(said)
        if 0 < len(words) <= LONGEST_PHRASE:
            letter = len(words) == 1 and len(said.strip()) < 2
            self._phrases[words].append(replace(sense, score=ONE_LETTER) if letter else sense)

    def _add_beginnings(self, table: str, facts: ColumnFacts, values: Sequence[str]) -> None:
        """ "Delta" for "Delta Air Lines Inc.", where no other value begins so."""
        begun: dict[Words, set[str]] = defaultdict(set)
        for value in values:
            words = name_words(value)
            for size in range(1, min(len(words), LONGEST_PHRASE)):
                if words[size - 1] not in grammar().silent:
                    # "Love in" says no more of "Love in a Hot Climate" than "love".
                    begun[words[:size]].add(value)
        for words, several in begun.items():
            if len(several) == 1 and len(words[0]) > 3:
                value = next(iter(several))
                said = " ".join(words)
                note = f"I read “{said}” as {facts.name} “{value}”."
                self._phrases[words].append(
                    Sense("value", table, facts.name, value, 0.7, note=note)
                )


def abbreviates(short: str, word: str, least: int = 3) -> bool:
    """Whether letters are what is left of a word without its vowels, from the first consonant to the last: mfr, bdy, wt."""
    # Two letters say little: "id" is no "instead".
    consonants = short if len(short) < 3 else short[1:]
    if len(short) < least or len(short) >= len(word) or set(consonants) & _VOWELS:
        return False
    bare = word.rstrip("".join(_VOWELS))
    left = iter(word)
    return short[0] == word[0] and short[-1] == bare[-1:] and all(each in left for each in short)


def _described(value: str) -> tuple[str, ...]:
    """Adjectives that are made of a noun: rainy, sunny, drizzly."""
    return f"{value}y", f"{value}{value[-1]}y", f"{value[:-1]}y"


def corrected(word: str, known: Iterable[str], most: int = 2) -> str | None:
    """The one known word with the same first letter that is one slip away, or two in a long word."""
    if len(word) < _LEAST_TYPED or not word.isalpha():
        return None
    most = 1 if len(word) < 8 else most
    best: dict[int, set[str]] = defaultdict(set)
    for each in known:
        if each[0] == word[0] and abs(len(each) - len(word)) <= most and len(each) >= 4:
            distance = OSA.distance(word, each, score_cutoff=most)
            if distance <= most:
                best[distance].add(each)
    nearest = best[min(best)] if best else set()
    return next(iter(nearest)) if len(nearest) == 1 else None


def _lowered(senses: Iterable[Sense], by: float, only: str = "") -> Iterator[Sense]:
    for each in senses:
        if not only or each.kind == only:
            yield replace(each, score=each.score * by)


def _noted(senses: Iterable[Sense], key: Words) -> Iterator[Sense]:
    """With a word on what was read as what, where there is a key."""
    for each in senses:
        note = f"I read “{' '.join(key)}” as {each.name}." if key else each.note
        yield replace(each, note=note)


def _product(options: Sequence[Sequence[str]]) -> list[Words]:
    found: list[Words] = [()]
    for each in options:
        found = [(*begun, word) for begun in found for word in each][:64]
    return found
