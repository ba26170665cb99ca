"""What a column's name says about its content."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_WORD = re.compile(r"[^a-z0-9]+")


@lru_cache(maxsize=1024)
def words_of(column: str) -> str:
    """`customerEMail_2` → ` customer e mail 2 `: words in lower case between single spaces."""
    spaced = _CAMEL.sub(" ", column)
    plain = unicodedata.normalize("NFKD", spaced).encode("ascii", "ignore").decode().lower()
    return f" {_NOT_WORD.sub(' ', plain).strip()} "


def announces(column: str, hints: tuple[str, ...]) -> bool:
    words = words_of(column)
    return any(f" {hint} " in words for hint in hints)


@dataclass(frozen=True)
class NamedKind:
    """Personal data known by the column's name; values can only support it."""

    name: str
    label: str
    hints: tuple[str, ...]
    unless: tuple[str, ...] = ()


NAMED_KINDS = (
    NamedKind(
        "person_name",
        "name of a person",
        (
            *("first name", "firstname", "given name", "forename", "last name", "lastname"),
            *("surname", "family name", "full name", "fullname", "middle name", "maiden name"),
            *("contact name", "customer name", "employee name", "patient name", "person name"),
            *("client name", "author name", "contact person", "account holder", "cardholder"),
            *("requester name", "owner name", "agent name", "manager name", "sender name"),
            *("vorname", "nachname", "familienname", "prenom", "nom de famille", "apellido"),
            *("apellidos", "cognome", "achternaam", "voornaam", "imie", "nazwisko", "sobrenome"),
        ),
        unless=("company", "product", "file", "table", "column", "host", "brand", "domain"),
    ),
    NamedKind(
        "birth_date",
        "date of birth",
        (
            *("dob", "birth date", "birthdate", "date of birth", "birthday", "born", "birth"),
            *("geburtsdatum", "geburtstag", "date de naissance", "fecha de nacimiento"),
        ),
        unless=("place", "country", "city", "weight", "rate"),
    ),
    NamedKind(
        "address",
        "postal address",
        (
            *("street", "street address", "address", "address line", "address1", "address2"),
            *("postal address", "home address", "billing address", "shipping address"),
            *("strasse", "anschrift", "adresse", "direccion", "indirizzo", "adres", "rue"),
        ),
        unless=("email", "mail", "ip", "mac", "web", "url", "wallet", "id", "type", "e"),
    ),
    NamedKind(
        "username",
        "user name",
        ("username", "user name", "login", "login name", "screen name", "handle", "nickname"),
        unless=("count", "time", "date", "at", "id"),
    ),
    NamedKind(
        "secret",
        "secret",
        (
            *("password", "passwd", "pwd", "passphrase", "secret", "api key", "apikey"),
            *("access token", "auth token", "private key", "pin code", "cvv", "cvc"),
        ),
        unless=("hint", "count", "reset", "expires", "changed", "policy"),
    ),
    NamedKind(
        "passport",
        "passport or licence number",
        (
            *("passport", "passport number", "passport no", "driving licence"),
            *("driver license", "drivers license", "licence number", "license number"),
        ),
        unless=("country", "expiry", "issued", "expires"),
    ),
    NamedKind(
        "sensitive",
        "special category (health, belief, origin …)",
        (
            *("religion", "ethnicity", "race", "sexual orientation", "gender", "sex"),
            *("diagnosis", "disability", "blood type", "political", "trade union", "criminal"),
        ),
    ),
)


def named_kinds(column: str) -> tuple[NamedKind, ...]:
    return tuple(
        named
        for named in NAMED_KINDS
        if announces(column, named.hints) and not announces(column, named.unless)
    )
