"""Column and table names as words: what identifies, what measures, and how well two names speak of one thing."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import JaroWinkler


def listed(text: str) -> frozenset[str]:
    """The words of a text block."""
    return frozenset(text.split())


IDENTIFIER_WORDS = listed(
    "id ids key no nr num number code ref reference uuid guid pk fk sk identifier"
)
MEASURE_WORDS = listed("""count qty quantity amount total sum price cost fee rate ratio percent pct percentage score rating
    size level rank priority weight length width height depth age year month day hour minute second week
    quarter duration discount tax balance seq sequence position line step version attempt flag
    stock budget salary income points temperature latitude longitude lat lon lng value limit index
    visits clicks views sales revenue profit margin area volume hours days months years""")
GENERIC_WORDS = listed("""name title description comment comments note notes status type kind category date time timestamp
    created updated modified deleted text label value state flag active first last address city street
    gender language currency remark message subject body url""")
TABLE_WORDS = listed(
    "dim fact tbl table t d f stg staging raw src master ref lookup lu list data ods dwh vw view"
)
# A glued ending is split off only where it cannot be part of an ordinary word.
_GLUED = ("number", "code", "uuid", "guid", "key")
_GLUED_SHORT = ("id", "nr", "no")
_NOT_GLUED = listed(
    "turkey monkey donkey whiskey hockey jockey barcode decode encode unicode postcode"
)
_PEOPLE = listed("employee staff user person people member worker colleague agent account contact")
_PARTIES = listed("customer client account party company organisation organization user")
ROLES: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        listed("""manager supervisor boss lead mentor report owner author creator assignee approver reviewer
        agent operator clerk salesperson rep by editor requester handler responsible technician
        driver instructor teacher doctor"""),
        _PEOPLE,
    ),
    **dict.fromkeys(
        listed("buyer seller payer payee debtor client holder sender recipient"), _PARTIES
    ),
    "vendor": frozenset(("supplier",)),
    "supplier": frozenset(("vendor",)),
    "article": frozenset(("product", "item")),
    "item": frozenset(("product", "article")),
    "sku": frozenset(("product", "item", "article")),
    "origin": frozenset(("location", "airport", "station", "port", "warehouse", "site")),
    "destination": frozenset(("location", "airport", "station", "port", "warehouse", "site")),
    "shop": frozenset(("store",)),
    "branch": frozenset(("store", "office")),
}
SELF_ROLES = listed("parent superior predecessor successor root ancestor previous next replaces")

_SURE_ENDINGS = (("id",), ("key",), ("uuid",), ("guid",))
_LETTERS_OR_DIGITS = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True)
class Vocabulary:
    """The words that name tables, and those that name a table alone."""

    words: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()


NO_WORDS = Vocabulary()


@dataclass(frozen=True)
class Name:
    """A name in words: `core` is what is left without the words that only say "identifier"."""

    raw: str
    words: tuple[str, ...]
    core: tuple[str, ...]
    identifier: bool
    measure: bool

    @property
    def generic(self) -> bool:
        return not self.core or all(word in GENERIC_WORDS for word in self.core)


def vocabulary_of(tables: Iterable[str]) -> Vocabulary:
    """All words that name tables, by which glued names such as `custid` are told apart."""
    split = [tuple(word for word in words_of(table) if word not in TABLE_WORDS) for table in tables]
    return Vocabulary(
        words=frozenset(word for words in split for word in words if len(word) > 2),
        entities=frozenset(words[0] for words in split if len(words) == 1),
    )


def words_of(raw: str, vocabulary: Vocabulary = NO_WORDS) -> tuple[str, ...]:
    """The singular lower-case words of a name, whatever its style."""
    plain = unicodedata.normalize("NFKC", raw)
    words: list[str] = []
    for match in _LETTERS_OR_DIGITS.finditer(plain):
        for word in _humps(match.group()):
            words.extend(singular(part) for part in _unglued(word.lower(), vocabulary.words))
    return tuple(words)


def name_of(raw: str, vocabulary: Vocabulary = NO_WORDS, skip: int = 0) -> Name:
    """The name read as words, without its first `skip` words (a prefix all columns share)."""
    words = words_of(raw, vocabulary)[skip:]
    core = tuple(word for word in words if word not in IDENTIFIER_WORDS)
    identifier = bool(words) and (
        words[-1] in IDENTIFIER_WORDS or "fk" in words or (words[0] == "id" and len(words) > 1)
    )
    # `line_no` counts, but `budget_no` refers where there is a table of budgets.
    refers = words[-1:] in _SURE_ENDINGS or (identifier and set(core[-1:]) <= vocabulary.entities)
    measure = bool(core) and not refers and core[-1] in MEASURE_WORDS
    return Name(raw, words, core, identifier, measure)


def shared_prefix(columns: Iterable[str], table: str) -> int:
    """How many leading words all columns of a table share as a mere prefix, as in `c_name`, `c_phone`."""
    split = [words_of(column) for column in columns]
    if len(split) < 3 or any(len(words) < 2 for words in split):
        return 0
    first = {words[0] for words in split}
    if len(first) != 1:
        return 0
    prefix = first.pop()
    abbreviates = any(alike(prefix, word) >= 0.8 for word in words_of(table))
    return 1 if len(prefix) <= 3 or abbreviates else 0


@lru_cache(maxsize=65_536)
def alike(left: str, right: str) -> float:
    """How likely two words mean the same: equal, abbreviated, or misspelt."""
    if left == right:
        return 1.0
    short, long = sorted((left, right), key=len)
    if len(short) >= 3 and long.startswith(short):
        return 0.95
    if len(short) >= 3 and short[0] == long[0] and len(long) >= 5 and _abbreviates(short, long):
        return 0.85
    if len(short) >= 5 and JaroWinkler.similarity(left, right) >= 0.94:
        return 0.85
    return 0.0


def singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _humps(text: str) -> list[str]:
    """`customerID` as `customer` and `ID`, `HTTPCode` as `HTTP` and `Code`."""
    cuts = [0]
    for index in range(1, len(text)):
        before, here, after = text[index - 1], text[index], text[index + 1 : index + 2]
        if here.isupper() and (before.islower() or (before.isupper() and after.islower())):
            cuts.append(index)
    return [text[start:end] for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)]


def _unglued(word: str, vocabulary: frozenset[str]) -> tuple[str, ...]:
    if word in _NOT_GLUED or word in IDENTIFIER_WORDS:
        return (word,)
    for ending in _GLUED:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return (word[: -len(ending)], ending)
    for ending in _GLUED_SHORT:
        stem = word[: -len(ending)]
        if word.endswith(ending) and len(stem) >= 3 and _known(stem, vocabulary):
            return (stem, ending)
    return (word,)


def _known(stem: str, vocabulary: frozenset[str]) -> bool:
    return any(alike(singular(stem), word) >= 0.85 for word in vocabulary)


def _abbreviates(short: str, long: str) -> bool:
    """Whether `short` is `long` with letters left out and nothing but consonants kept after the first."""
    if len(short) > len(long) - 2 or any(letter in "aeiou" for letter in short[1:-1]):
        return False
    position = 0
    for letter in short:
        position = long.find(letter, position) + 1
        if position == 0:
            return False
    return True


@dataclass(frozen=True)
class Place:
    """A column as its name presents it: full and without the table's prefix, and the table's words."""

    full: Name
    short: Name
    table: str
    table_words: tuple[str, ...]


def name_score(dependent: Place, referenced: Place) -> float:
    """From 0 to 1: how clearly `dependent` names the thing that `referenced` identifies."""
    variants = {(d, r) for d in _variants(dependent) for r in _variants(referenced)}
    return max(_score(d, r, dependent, referenced) for d, r in variants)


def _variants(place: Place) -> tuple[Name, ...]:
    return (place.full,) if place.short == place.full else (place.full, place.short)


def _score(dependent: Name, referenced: Name, here: Place, there: Place) -> float:
    same_words = dependent.words == referenced.words
    if dependent.measure and not same_words:
        return 0.0
    if not dependent.core:
        return _bare_identifier(here, there)
    if same_words and not dependent.generic:
        return 1.0
    if dependent.generic and not dependent.identifier:
        # A bare `name` or `status` refers to nothing but a table of exactly that.
        table = _entity_words(there)
        return _pairwise(dependent.core, table) if len(dependent.core) == len(table) else 0.0
    best = max(
        (_aligned(dependent.core, entity) for entity in _entities(referenced, there)), default=0.0
    )
    if best == 0.0:
        best = _role(dependent, referenced, here, there)
    if dependent.words[-1:] == referenced.words[-1:] or not referenced.core:
        return best
    # `customer_id` and `customer_number` may be two numberings of the same thing.
    return best * 0.95


def _entity_words(place: Place) -> tuple[str, ...]:
    return tuple(w for w in place.table_words if w not in TABLE_WORDS) or place.table_words


def _entities(referenced: Name, there: Place) -> list[tuple[str, ...]]:
    """The word sequences that name what the referenced column identifies."""
    table = _entity_words(there)
    core = referenced.core
    entities = [] if referenced.generic else [core]
    if not core or _aligned(core, table) >= 0.7:
        entities.append(table)
    if core:
        entities.append(table + core)
        if referenced.generic and not referenced.measure:
            # A look-up's own words: `country` may refer to `countries.name`.
            entities.append(table)
    return [entity for entity in entities if entity]


def _aligned(core: tuple[str, ...], entity: tuple[str, ...]) -> float:
    if "".join(core) == "".join(entity):
        return 1.0
    if len(core) >= len(entity):
        ending = _pairwise(core[len(core) - len(entity) :], entity)
        beginning = _pairwise(core[: len(entity)], entity)
        if len(core) == len(entity):
            return ending
        # `billing_customer_id` points at customers with a role; `customer_code_old` does so less surely.
        return max(ending * 0.9, beginning * 0.8)
    # `category_id` may point at product categories; `crm_id`, less surely, at the customers of the CRM.
    return max(
        _pairwise(core, entity[len(entity) - len(core) :]) * 0.75,
        _pairwise(core, entity[: len(core)]) * 0.6,
    )


def _pairwise(left: tuple[str, ...], right: tuple[str, ...]) -> float:
    values = [alike(a, b) for a, b in zip(left, right, strict=True)]
    return min(values) if values and min(values) > 0 else 0.0


def _bare_identifier(here: Place, there: Place) -> float:
    """`id` says nothing by itself, unless the table is named as a part of the other: `customer_details`."""
    mine, theirs = here.table_words, there.table_words
    if here.table == there.table or len(mine) <= len(theirs) or not theirs:
        return 0.0
    return 0.7 if _pairwise(mine[: len(theirs)], theirs) > 0 else 0.0


def names_table(dependent: Place, referenced: Place) -> float:
    """How clearly a column names the other table itself, or a role in it, whatever that table calls its key."""
    if not dependent.short.core:
        return 0.0
    plays = 0.8 if set(referenced.table_words[-1:]) & _played(dependent.short) else 0.0
    if not dependent.short.identifier:
        return plays
    return max(plays, 0.9 * _aligned(dependent.short.core, _entity_words(referenced)))


def within(inner: tuple[str, ...], outer: tuple[str, ...]) -> bool:
    """Whether one name's words occur in the other's: `employee` in `employee_pay_history`."""
    return bool(inner) and "".join(inner) in "".join(outer) and inner != outer


def _roles_named(name: Name) -> tuple[str, ...]:
    """Words that may say a role: all of an identifier, otherwise the last one (`reports_to`, `created_by`)."""
    if name.identifier:
        return name.core
    return name.core[-2:] if name.core[-1:] in {("to",), ("by",), ("of",)} else name.core[-1:]


def _role(dependent: Name, referenced: Name, here: Place, there: Place) -> float:
    if here.table == there.table and any(word in SELF_ROLES for word in dependent.core):
        return 0.85 if referenced.identifier or referenced.generic else 0.0
    heads = set(referenced.core[-1:]) | set(there.table_words[-1:])
    if heads & _played(dependent) and (referenced.identifier or not referenced.core):
        return 0.85
    return 0.0


def _played(name: Name) -> frozenset[str]:
    """What may play the role that a name says, also where it is cut short: `dest` for destination."""
    return frozenset(
        head
        for word in _roles_named(name)
        for role, heads in ROLES.items()
        if word == role or (len(name.core) == 1 and len(word) >= 4 and role.startswith(word))
        for head in heads
    )
