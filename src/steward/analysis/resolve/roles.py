"""Reads the role of a column from its name and, above all, from its values."""

from steward.analysis.resolve.columns import ColumnFacts
from steward.analysis.resolve.rules import Role

# Words of column names, in the languages our users' systems speak.
_EMAIL = {"email", "mail", "emailaddress", "courriel", "correo"}
_PHONE = {
    *("phone", "tel", "telephone", "telefon", "telefono", "mobile", "mobil", "handy", "cell"),
    *("cellphone", "gsm", "telefoon", "phonenumber"),
}
_GIVEN = {
    *("given", "first", "firstname", "forename", "fname", "vorname", "prenom", "voornaam"),
    *("givenname", "nombre", "imie"),
}
_FAMILY = {
    *("family", "last", "lastname", "surname", "lname", "nachname", "familienname", "achternaam"),
    *("familyname", "apellido", "apellidos", "cognome", "nazwisko", "efternamn"),
}
_PERSON = {
    *("fullname", "contact", "person", "requester", "kontakt", "ansprechpartner", "patient"),
    *("member", "guest", "attendee", "sender", "caller", "subscriber", "applicant", "student"),
}
_COMPANY = {
    *("company", "organisation", "organization", "org", "firma", "firm", "business", "employer"),
    *("societe", "entreprise", "unternehmen", "azienda", "empresa", "bedrijf", "companyname"),
}
_PARTY = {
    "account",
    "customer",
    "client",
    "supplier",
    "vendor",
    "kunde",
    "kunden",
    "debitor",
    "buyer",
}
_NAME = {"name", "names", "naam", "nom", "nome", "navn", "bezeichnung"}
_STREET = {
    *(
        "street",
        "address",
        "addr",
        "address1",
        "strasse",
        "str",
        "rue",
        "adresse",
        "road",
        "straat",
    ),
    *("calle", "via", "line", "streetaddress", "anschrift", "direccion", "indirizzo"),
}
_NUMBER = {"number", "no", "nr", "num", "nummer", "hausnummer", "housenumber"}
_HOUSE = {"house", "haus", "street", "building", "hausnummer", "housenumber", "streetnumber"}
_CITY = {
    *("city", "town", "suburb", "locality", "ort", "stadt", "ville", "ciudad", "citta", "place"),
    *("plaats", "municipality", "village", "miasto"),
}
_POSTCODE = {"postcode", "zip", "zipcode", "postal", "plz", "postalcode", "postleitzahl", "cap"}
_REGION = {"state", "province", "region", "county", "bundesland", "canton", "kanton", "prefecture"}
_COUNTRY = {"country", "land", "pays", "pais", "nation", "countrycode", "kraj"}
_BIRTH = {
    "birth",
    "dob",
    "birthdate",
    "birthday",
    "dateofbirth",
    "geburtsdatum",
    "geburtstag",
    "born",
}
_TAX = {
    *(
        "vat",
        "tax",
        "ssn",
        "nif",
        "nie",
        "siren",
        "siret",
        "ein",
        "tin",
        "duns",
        "lei",
        "ust",
        "ustid",
    ),
    *("passport", "nino", "nhs", "cuit", "rut", "cpf", "cnpj", "abn", "acn", "kvk", "taxid"),
}
_BANK = {"iban", "bban", "bankaccount"}
_THING = {
    *("name", "title", "product", "description", "model", "label", "brand", "manufacturer"),
    *("item", "article", "artikel", "bezeichnung", "titre", "titel"),
}
_WEB = {"website", "web", "url", "domain", "homepage", "site"}
_ID = {"id", "key", "ref", "reference", "code", "uuid", "guid", "identifier", "nr", "no", "number"}
# People who work on the record, not the one it is about.
_STAFF = {
    *(
        "owner",
        "manager",
        "agent",
        "rep",
        "assignee",
        "assigned",
        "editor",
        "author",
        "salesperson",
    ),
    *("seller", "operator", "handler", "employee", "clerk", "technician", "approver", "reviewer"),
}
_UPDATED = ("updated", "modified", "changed", "edited", "synced", "seen", "geandert")
_CREATED = (
    "created",
    "opened",
    "issue",
    "issued",
    "registered",
    "joined",
    "date",
    "added",
    "erstellt",
)

MIN_SHARE = 0.6
# In fewer rows than this any column may be unique by chance.
FEW_ROWS = 50


def role_of(facts: ColumnFacts) -> Role:
    """The role, `other` where nothing fits; values decide over names where they can."""
    words = set(facts.words)
    if facts.filled == 0 or facts.distinct < 2 or words & _STAFF or "by" in words:
        return "other"
    by_value = _role_by_value(facts, words)
    if by_value is not None:
        return by_value
    if facts.temporal or facts.numeric or facts.type == "BOOLEAN":
        return "birth_date" if facts.temporal and words & _BIRTH else "other"
    return _role_by_name(facts, words)


def names_people(facts: ColumnFacts) -> bool:
    """Whether the column's name says that its values are people; a bare `name` does not."""
    words = set(facts.words)
    return bool(words & (_PERSON | _PARTY | _GIVEN | _FAMILY))


def is_id_like(facts: ColumnFacts) -> bool:
    """Whether the column could number things: few characters, no prose, a telling name."""
    if facts.numeric or facts.temporal or not facts.filled:
        return False
    return bool(set(facts.words) & _ID) and facts.length <= 40 and facts.word_count < 2.5


def row_key_of(facts: tuple[ColumnFacts, ...]) -> str | None:
    """The first unique column that is named like a number of the row, or else looks like one."""
    unique = [one for one in facts if one.unique and not one.numeric and not one.temporal]
    named = [one for one in unique if is_id_like(one) or one.words == ("id",)]
    coded = [
        one
        for one in unique
        if one.rows >= FEW_ROWS
        and one.word_count < 1.01
        and one.length <= 40
        and one.shares["digit_inside"] >= 0.95
        and one.shares["email"] == 0
    ]
    return next((one.name for one in (*named, *coded)), None)


def moment_of(facts: tuple[ColumnFacts, ...]) -> str | None:
    """The column that best says when a row was last true."""
    dated = [
        one
        for one in facts
        if (one.temporal or one.shares["date"] >= MIN_SHARE) and not set(one.words) & _BIRTH
    ]
    for hints in (_UPDATED, _CREATED):
        for one in dated:
            if set(one.words) & set(hints):
                return one.name
    return None


def is_event_like(facts: ColumnFacts) -> bool:
    """Times, amounts and prose: what differs from event to event, not from party to party."""
    timed = facts.temporal or facts.shares["date"] >= MIN_SHARE
    return (
        (timed and not set(facts.words) & _BIRTH)
        or facts.numeric
        or facts.shares["amount"] >= MIN_SHARE
    )


def _role_by_value(facts: ColumnFacts, words: set[str]) -> Role | None:
    shares = facts.shares
    if shares["email"] >= MIN_SHARE:
        return "email"
    if shares["iban"] >= MIN_SHARE and facts.length > 14:
        return "bank_account"
    if words & _WEB and (shares["url"] >= 0.3 or "domain" in words or "website" in words):
        return "email_domain"
    if words & _PHONE and shares["phone"] >= 0.5 and facts.length >= 6:
        return "phone"
    return None


def _role_by_name(facts: ColumnFacts, words: set[str]) -> Role:
    if words & _BIRTH and facts.shares["digit_inside"] >= 0.5:
        return "birth_date"
    if words & _TAX or {"soc", "sec"} <= words or {"social", "security"} <= words:
        return "tax_id"
    if words & _BANK:
        return "bank_account"
    address = _address_role(facts, words)
    if address is not None:
        return address
    named = _name_role(facts, words)
    if named is not None:
        return named
    worded = facts.shares["letters"] >= MIN_SHARE and facts.length <= 200
    return "text" if words & _THING and worded and not words & _ID else "other"


def _address_role(facts: ColumnFacts, words: set[str]) -> Role | None:
    if words & _POSTCODE or {"post", "code"} <= words:
        return "postcode"
    if words & _EMAIL or words & _PHONE:
        return None
    if words & _NUMBER and words & _HOUSE:
        return "street_number"
    if words & _STREET and not words & _WEB:
        return "address_detail" if words & {"2", "3", "address2", "detail", "unit"} else "street"
    if words & _CITY:
        return "city"
    if words & _COUNTRY:
        return "country"
    if words & _REGION and facts.distinct <= 500:
        return "region"
    return None


def _name_role(facts: ColumnFacts, words: set[str]) -> Role | None:
    if facts.shares["letters"] < MIN_SHARE or facts.length > 80 or words & (_ID - {"name"}):
        return None
    if words & _GIVEN and not words & {"order", "purchase", "seen", "contacted"}:
        return "given_name"
    if words & _FAMILY and not words & {"order", "purchase", "seen", "login", "contacted"}:
        return "family_name"
    firm = facts.shares["legal_form"] >= 0.1
    if facts.shares["digit_inside"] > 0.3:
        return "company" if firm and words & _COMPANY else None
    if words & _COMPANY:
        return "company"
    if words & _PERSON:
        return "company" if firm else "person_name"
    if words & _PARTY and (words & _NAME or len(words) == 1):
        return "company" if firm else "person_name"
    if words & _NAME and len(words - _NAME - {"full", "display", "legal"}) == 0:
        return "company" if firm else "person_name"
    return None
