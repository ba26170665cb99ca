"""A question as a row of marked pieces: names, values, numbers, times and the words between them.

Of all ways to cut the question into pieces that one is taken which leaves the fewest words unknown, with the fewest
pieces and the surest names: "total bill" is a column before it is a total of something.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final, get_args

from steward.agents.asking.grammar import grammar, longest_phrase, phrases, vocabulary
from steward.agents.asking.lexicon import LONGEST_PHRASE, Lexicon, Sense, corrected
from steward.agents.asking.periods import Calendar, Span
from steward.agents.asking.reading import Shape
from steward.agents.asking.tokens import MULTIPLIERS, Token, name_words, plain

_WORD: Final = 10.0
_PIECE: Final = -2.5
ALIKE: Final = 0.06
"""Names whose scores differ by less are equally likely."""
_PART: Final = 0.85
_CLEAR: Final = 0.15
_OVERSHADOWED: Final = -8.0
_OF: Final = frozenset({"of", "the"})
_SPLIT: Final = 0.93
"""How sure a name is whose number stands elsewhere: population_2021 for "population in 2021"."""
_COMPARING: Final = frozenset({"than", "least", "over", "exactly", "above"})
"""Words after which "one" is a number."""
_COMPARED: Final = frozenset({"r", "er", "st", "est"})
"""What makes an adjective compare."""
_SHAPES: Final = frozenset(get_args(Shape))
Reach = Callable[[Sense], Sense | None]


@dataclass(frozen=True)
class Piece:
    """One or more words of the question with what they can be."""

    kind: str
    first: int
    last: int
    argument: str = ""
    senses: tuple[Sense, ...] = ()
    number: float | int | None = None
    span: Span | None = None
    worth: float = 0.0

    def meaning(self, kind: str) -> list[Sense]:
        """The surest of its senses of a kind."""
        found = [each for each in self.senses if each.kind == kind]
        return [each for each in found if each.score >= found[0].score - ALIKE]

    @property
    def surest(self) -> float:
        return self.senses[0].score if self.senses else 0.0

    def could_be(self, kind: str) -> bool:
        """Whether it may be meant as one of these, beside what it names most surely."""
        return any(each.kind == kind and each.score >= self.surest - 0.3 for each in self.senses)


@dataclass
class Tagged:
    pieces: list[Piece]
    worth: float
    notes: list[str] = field(default_factory=list)


class Tagger:
    """Cuts one message into pieces, for one table after another."""

    def __init__(
        self, tokens: Sequence[Token], written: str, lexicon: Lexicon, today: date, year: int | None
    ) -> None:
        self.notes: list[str] = []
        self._lexicon = lexicon
        self.tokens = tuple(self._spelled(tokens))
        self._calendar = Calendar(self.tokens, today, year)
        self._written = written
        self._named = list(self._names())
        self.breaks = frozenset(self._breaks())
        """Words that a comma or the like stands before."""
        self.codes = dict(self._codes())
        """Where a code ends and how it is written, by the word it begins at."""

    def _codes(self) -> Iterator[tuple[int, tuple[int, str]]]:
        """Runs of words that no space parts and that hold a digit, such as A-1007, by their first word."""
        first = 0
        for at in range(1, len(self.tokens) + 1):
            if at < len(self.tokens):
                between = self._written[self.tokens[at - 1].end : self.tokens[at].start]
                if between and not between.isspace() and between.strip() == between:
                    continue
            text = self._written[self.tokens[first].start : self.tokens[at - 1].end]
            if any(letter.isdigit() for letter in text):
                yield first, (at, text)
            first = at

    def _breaks(self) -> Iterator[int]:
        for at in range(1, len(self.tokens)):
            between = self._written[self.tokens[at - 1].end : self.tokens[at].start]
            if set(between) & set(",;:/+&"):
                yield at

    def _spelled(self, tokens: Sequence[Token]) -> Iterator[Token]:
        """Words that nothing is called by, as the word that they are one slip away from."""
        known = self._lexicon.vocabulary | vocabulary()
        for token in tokens:
            word = token.word
            if not word.isalpha() or (self._is_known(token) and not self._is_slip(token)):
                yield token
                continue
            denied = self._lexicon.opposite(token.text)
            if denied is not None:
                self.notes.append(f"I read “{token.text}” as not “{denied}”.")
                yield Token("not", "not", token.start, token.end)
                yield Token(denied, plain(denied), token.start, token.end)
                continue
            meant = corrected(word, known)
            if meant is None or self._is_other_form(word, meant):
                yield token
                continue
            self.notes.append(f"I read “{token.text}” as “{meant}”.")
            yield Token(meant, meant, token.start, token.end)

    def _is_other_form(self, word: str, meant: str) -> bool:
        """Whether a word is not misspelled but has another ending: carnivores are no Carnivora, large is not larger."""
        if meant in vocabulary() and meant.removeprefix(word) in _COMPARED:
            return True
        alike = next(
            (at for at, pair in enumerate(zip(word, meant, strict=False)) if len({*pair}) > 1),
            len(word),
        )
        known = self._lexicon.senses((meant,))
        is_value = meant not in vocabulary() and all(each.kind == "value" for each in known)
        return is_value and alike >= min(len(word), len(meant)) - 1

    def _is_slip(self, token: Token) -> bool:
        """Whether a word that names something only in part is one slip away from a whole word: populaton."""
        known = self._lexicon.senses((token.word,), token.text)
        in_part = bool(known) and known[0].score < _PART and not self._lexicon.knows(token.word)
        return in_part and corrected(token.word, self._lexicon.vocabulary, most=1) is not None

    def _is_known(self, token: Token) -> bool:
        word = token.word
        return (
            word in grammar().silent
            or token.text in grammar().silent
            or token.text in grammar().adjectives
            or self._lexicon.knows(word)
            or token.number is not None
            or any(word in phrase for phrase in phrases())
            or bool(self._lexicon.senses((word,), token.text))
            or Calendar([token], date(2000, 1, 1)).point(0) is not None
        )

    def _names(self) -> Iterator[tuple[int, int, list[Sense]]]:
        size = len(self.tokens)
        for first in range(size):
            for last in range(first + 1, min(size, first + LONGEST_PHRASE) + 1):
                words = [token.word for token in self.tokens[first:last]]
                if last == first + 1 and words[0].isdigit() and len(words[0]) < 4:
                    continue
                text = self._written[self.tokens[first].start : self.tokens[last - 1].end]
                found = self._lexicon.senses(words, text)
                if not found and last > first + 2:
                    found = self._with_gaps(words)
                if last == first + 1 and self._is_small(self.tokens[first]):
                    # "in" is India's code only where it is written so.
                    found = [
                        each
                        for each in found
                        if each.kind != "value" or (each.value == text and not text.islower())
                    ]
                if found:
                    yield first, last, found

    def _with_gaps(self, words: Sequence[str]) -> list[Sense]:
        """ "Tracks were sold" for the figure "tracks sold": small words may stand in between."""
        ends = {words[0], words[-1]}
        kept = [word for word in words if word in ends or word not in grammar().silent]
        if not 1 < len(kept) < len(words) or any(word in grammar().silent for word in ends):
            return []
        found = self._lexicon.senses(kept)
        if set(words) - set(kept) <= _OF:
            # "Country of origin" for origin_country.
            columns = [each for each in found if each.kind == "column" and each.score >= _PART]
            if columns:
                return columns
        return [each for each in found if each.kind in {"metric", "segment"} and each.score == 1]

    @staticmethod
    def _is_small(token: Token) -> bool:
        return (
            token.word in grammar().silent
            or token.text in grammar().silent
            or (token.word,) in phrases()
        )

    def tagged(self, reach: Reach) -> Tagged:
        """The pieces as seen from one table: `reach` gives a sense as it is there, None where it is out of reach."""
        options: list[list[Piece]] = [[] for _ in self.tokens]
        numbers = {token.word: place for place, token in enumerate(self.tokens) if token.number}
        for first, last, senses in self._named:
            there = [seen for each in senses if (seen := reach(each)) is not None]
            there, elsewhere = self._with_numbers(first, last, there, numbers)
            for place in elsewhere:
                options[place].append(Piece("silent", place, place + 1, worth=_WORD + 2.0))
            if there and _is_of_another(senses[0], there[0]):
                # "Genre" is a table that nothing leads to: its number beside the rows is not what is asked for.
                continue
            if there:
                there.sort(key=lambda each: -each.score)
                worth = _WORD * (last - first) + 2 * there[0].score
                if there[0].score < _PART and senses[0].score - there[0].score > _CLEAR:
                    # Something else is called exactly so.
                    worth += _OVERSHADOWED
                options[first].append(Piece("name", first, last, senses=tuple(there), worth=worth))
        for place in range(len(self.tokens)):
            options[place] += self._marks(place)
        return self._best(options)

    def _with_numbers(
        self, first: int, last: int, senses: list[Sense], numbers: Mapping[str, int]
    ) -> tuple[list[Sense], set[int]]:
        """Columns whose names go on with a number that stands elsewhere in the question, and the places of these numbers."""
        said = {token.word for token in self.tokens[first:last]}
        found, places = [], set[int]()
        for each in senses:
            rest = [word for word in name_words(each.name) if word not in said]
            if each.kind == "column" and rest and all(word in numbers for word in rest):
                found.append(replace(each, score=max(each.score, _SPLIT), headless=False))
                places |= {numbers[word] for word in rest}
        if not found or places & set(range(first, last)):
            return senses, set()
        known = {each.name for each in found}
        return [*found, *(each for each in senses if each.name not in known)], places

    def _marks(self, place: int) -> Iterator[Piece]:
        token = self.tokens[place]
        words = [each.word for each in self.tokens[place : place + longest_phrase()]]
        for size in range(1, len(words) + 1):
            mark = phrases().get(tuple(words[:size]))
            # "More than 50 percent": the number's unit, and no share.
            counted = place > 0 and self.tokens[place - 1].number is not None
            if mark is not None and not (mark.kind == "share" and counted):
                worth = _WORD * size + 1.9
                yield Piece(mark.kind, place, place + size, mark.argument, worth=worth)
        if token.word in _SHAPES and "as" in self._before(place):
            yield Piece("chart", place, place + 1, token.word, worth=_WORD + 1.9)
        span = self._calendar.at(place)
        if span is not None:
            worth = _WORD * span.size + 1.95
            yield Piece(
                "period", place, place + span.size, span=span, number=token.number, worth=worth
            )
        if token.number is not None:
            yield from self._numbers(place, token.number)
        elif token.text == "one" and place and self.tokens[place - 1].text in _COMPARING:
            yield Piece("number", place, place + 1, number=1, worth=_WORD + 1.97)
        if token.text in grammar().adjectives:
            yield Piece("adjective", place, place + 1, token.text, worth=_WORD + 1.97)
        if self._is_silent(place):
            yield Piece("silent", place, place + 1, worth=_WORD + 1.85)
        yield Piece("unknown", place, place + 1, worth=0.0)

    def _before(self, place: int) -> list[str]:
        """The word before, past an article: "as a line"."""
        words = [token.text for token in self.tokens[max(0, place - 2) : place]]
        return words if words[-1:] in (["a"], ["an"], ["the"]) else words[-1:]

    def _is_silent(self, place: int) -> bool:
        token = self.tokens[place]
        # "Give us", but "in the us".
        named = token.text == "us" and place and self.tokens[place - 1].text in {"the", "in", "of"}
        return not named and (token.word in grammar().silent or token.text in grammar().silent)

    def _numbers(self, place: int, number: float | int) -> Iterator[Piece]:
        following = self.tokens[place + 1].text if place + 1 < len(self.tokens) else ""
        yield Piece("number", place, place + 1, number=number, worth=_WORD + 1.5)
        if following in MULTIPLIERS:
            scaled = number * MULTIPLIERS[following]
            yield Piece("number", place, place + 2, number=scaled, worth=2 * _WORD + 1.5)

    def _best(self, options: Sequence[Sequence[Piece]]) -> Tagged:
        size = len(options)
        best: list[tuple[float, list[Piece]]] = [(0.0, [])] * (size + 1)
        for place in range(size - 1, -1, -1):
            choices = [
                (piece.worth + _PIECE + best[piece.last][0], piece) for piece in options[place]
            ]
            worth, piece = max(choices, key=lambda each: each[0])
            best[place] = (worth, [piece, *best[piece.last][1]])
        return Tagged(best[0][1], best[0][0], list(self.notes))


def _is_of_another(meant: Sense, seen: Sense) -> bool:
    is_table = meant.kind == "table" and meant.score >= _PART and meant.table != seen.table
    return is_table and seen.kind == "column" and seen.score < _PART


def only(piece: Piece, sense: Sense) -> Piece:
    """The piece where one of its meanings is chosen."""
    others = tuple(
        each for each in piece.senses if each.kind != sense.kind or each.score < sense.score - ALIKE
    )
    return replace(piece, senses=tuple(sorted((sense, *others), key=lambda each: -each.score)))
