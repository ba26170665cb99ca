"""The kinds of personal data Steward knows: their shape, their check and how they are hinted at."""

import re
from dataclasses import dataclass
from functools import cached_property

from steward.analysis.pii import validators
from steward.analysis.pii.validators import Validator, by_stdnum


@dataclass(frozen=True)
class Kind:
    """Patterns are written in the part of the syntax that RE2 and Python share, without groups."""

    name: str
    label: str
    pattern: str
    """What a whole value looks like; also looked for within longer text where `inside` is set."""
    valid: Validator
    check: str
    """How a value is checked, in words."""
    hints: tuple[str, ...] = ()
    """Words of column names that announce this kind."""
    chance: float | None = None
    """Share of arbitrary values of this shape that pass the check; None: the shape is evidence."""
    hinted_pattern: str | None = None
    """A looser shape, used only where the column's name announces the kind."""
    inside: bool = False
    needs_hint: bool = False
    personal: bool = True

    def shape(self, hinted: bool) -> str:
        return self.hinted_pattern if hinted and self.hinted_pattern else self.pattern

    @cached_property
    def inside_pattern(self) -> str:
        """The same shape within longer text, as one group between things that are not letters."""
        return rf"(?:^|[^0-9A-Za-z_+])({self.pattern})(?:$|[^0-9A-Za-z_])"

    @cached_property
    def inside_regex(self) -> re.Pattern[str]:
        return re.compile(self.inside_pattern)

    def regex(self, hinted: bool) -> re.Pattern[str]:
        return re.compile(self.shape(hinted))


_MAIL = r'[^\s@<>()\[\],;:"\\]{1,64}@(?:[^\s@<>()\[\],;:"\\./]+\.)+[^\s@<>()\[\],;:"\\./0-9]{2,24}'
_DIGITS = r"[0-9](?:[ .\-/()]{0,2}[0-9])"

_CONTACT = (
    Kind(
        "email",
        "e-mail address",
        _MAIL,
        validators.email,
        "syntax of e-mail addresses (RFC 5322)",
        hints=("email", "e mail", "mail", "emails", "email address"),
        inside=True,
    ),
    Kind(
        "phone",
        "telephone number",
        r"(?:\+|00)[1-9](?:[ .\-/()]{0,2}[0-9]){6,14}",
        validators.phone,
        "numbering plans of the countries",
        hints=("phone", "telephone", "tel", "mobile", "cell", "fax", "telefon", "msisdn"),
        hinted_pattern=rf"(?:\+|\()?{_DIGITS}{{5,14}}(?: ?x[0-9]{{1,5}})?",
        inside=True,
    ),
    Kind(
        "ip",
        "IP address",
        r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}",
        validators.ip,
        "syntax of IPv4 and IPv6 addresses",
        hints=("ip", "ip address", "ipv4", "ipv6", "remote addr", "client ip"),
        inside=True,
    ),
    Kind(
        "mac",
        "MAC address",
        r"[0-9A-Fa-f]{2}(?:[:\-][0-9A-Fa-f]{2}){5}",
        validators.mac,
        "syntax of hardware addresses",
        hints=("mac", "mac address"),
    ),
)

_MONEY = (
    Kind(
        "iban",
        "IBAN",
        r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?",
        by_stdnum("iban"),
        "check digits and the country's format",
        hints=("iban", "bank account", "account number"),
        chance=0.01,
        inside=True,
    ),
    Kind(
        "card",
        "payment card number",
        r"[2-6][0-9](?:[ \-]?[0-9]){11,17}",
        validators.card,
        "Luhn's check digit and the card schemes' ranges",
        hints=("card", "card number", "credit card", "pan", "cc", "creditcard", "cardnumber"),
        chance=0.05,
        inside=True,
    ),
    Kind(
        "vat_id",
        "VAT number",
        r"[A-Z]{2} ?[0-9A-Z+*.\-]{8,14}",
        by_stdnum("eu.vat"),
        "the country's format and check digits",
        hints=("vat", "vat id", "vat number", "ust id", "tva", "partita iva", "btw", "tax id"),
        chance=0.05,
        personal=False,
    ),
)


def _national(
    name: str,
    label: str,
    pattern: str,
    module: str,
    *hints: str,
    chance: float | None = None,
    needs_hint: bool = False,
    inside: bool = False,
    hinted: str | None = None,
) -> Kind:
    return Kind(
        name,
        label,
        pattern,
        by_stdnum(module),
        "check digits and rules of the number",
        hints=(*hints, "national id", "personal number", "identity number", "tax id"),
        chance=chance,
        hinted_pattern=hinted,
        inside=inside,
        needs_hint=needs_hint,
    )


_IDENTITY = (
    _national(
        "us_ssn",
        "US social security number",
        r"[0-9]{3}-[0-9]{2}-[0-9]{4}",
        "us.ssn",
        "ssn",
        "social security",
        "social security number",
        inside=True,
        hinted=r"[0-9]{3}[ \-]?[0-9]{2}[ \-]?[0-9]{4}",
    ),
    _national(
        "gb_nhs",
        "NHS number (UK)",
        r"[0-9]{3}[ \-]?[0-9]{3}[ \-]?[0-9]{4}",
        "gb.nhs",
        "nhs",
        "nhs number",
        chance=0.1,
    ),
    Kind(
        "gb_nino",
        "National Insurance number (UK)",
        r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]",
        validators.nino,
        "allowed prefixes",
        hints=("nino", "national insurance", "ni number", "national id"),
        inside=True,
    ),
    _national(
        "it_codice_fiscale",
        "codice fiscale (Italy)",
        r"[A-Z]{6}[0-9LMNPQRSTUV]{2}[A-EHLMPRST][0-9LMNPQRSTUV]{2}[A-Z][0-9LMNPQRSTUV]{3}[A-Z]",
        "it.codicefiscale",
        "codice fiscale",
        chance=0.04,
        inside=True,
    ),
    _national(
        "fr_nir",
        "numéro de sécurité sociale (France)",
        r"[12378] ?[0-9]{2} ?[0-9]{2} ?[0-9][0-9AB] ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}",
        "fr.nir",
        "nir",
        "insee",
        "securite sociale",
        chance=0.01,
    ),
    _national(
        "es_dni", "DNI (Spain)", r"[0-9]{8}[ \-]?[A-Z]", "es.dni", "dni", "nif", chance=0.05
    ),
    _national(
        "es_nie", "NIE (Spain)", r"[XYZ][ \-]?[0-9]{7}[ \-]?[A-Z]", "es.nie", "nie", chance=0.05
    ),
    _national(
        "br_cpf",
        "CPF (Brazil)",
        r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}",
        "br.cpf",
        "cpf",
        chance=0.01,
        inside=True,
        hinted=r"[0-9]{3}\.?[0-9]{3}\.?[0-9]{3}-?[0-9]{2}",
    ),
    _national(
        "ch_ahv", "AHV number (Switzerland)", r"756\.?[0-9]{4}\.?[0-9]{4}\.?[0-9]{2}", "ch.ssn",
        "ahv", "avs", chance=0.1,
    ),
    _national(
        "se_personnummer", "personnummer (Sweden)", r"(?:[0-9]{2})?[0-9]{6}[\-+][0-9]{4}",
        "se.personnummer", "personnummer", "pnr", chance=0.03,
    ),
    _national(
        "fi_hetu", "henkilötunnus (Finland)", r"[0-9]{6}[\-+A-FYXWVU][0-9]{3}[0-9A-Z]", "fi.hetu",
        "hetu", "henkilotunnus", chance=0.03,
    ),
    _national(
        "be_nn", "national number (Belgium)",
        r"[0-9]{2}\.?[0-9]{2}\.?[0-9]{2}-?[0-9]{3}\.?[0-9]{2}", "be.nn",
        "rijksregisternummer", "nn", "niss", chance=0.01,
    ),
    _national(
        "in_pan", "PAN (India)", r"[A-Z]{3}[ABCFGHLJPT][A-Z][0-9]{4}[A-Z]", "in_.pan", "pan"
    ),
    _national(
        "in_aadhaar", "Aadhaar number (India)", r"[2-9][0-9]{3} ?[0-9]{4} ?[0-9]{4}", "in_.aadhaar",
        "aadhaar", "uidai", chance=0.1, needs_hint=True,
    ),
    _national(
        "pl_pesel", "PESEL (Poland)", r"[0-9]{11}", "pl.pesel", "pesel",
        chance=0.04, needs_hint=True,
    ),
    _national(
        "nl_bsn", "BSN (Netherlands)", r"[0-9]{8,9}", "nl.bsn", "bsn", "burgerservicenummer",
        chance=0.1, needs_hint=True,
    ),
    _national(
        "de_idnr", "Steuer-ID (Germany)", r"[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}", "de.idnr",
        "steuer id", "steuerid", "idnr", "steueridentifikationsnummer",
        chance=0.05, needs_hint=True,
    ),
    _national(
        "ca_sin", "SIN (Canada)", r"[0-9]{3}[ \-]?[0-9]{3}[ \-]?[0-9]{3}", "ca.sin", "sin",
        chance=0.1, needs_hint=True,
    ),
    _national(
        "pt_nif", "NIF (Portugal)", r"[0-9]{9}", "pt.nif", "nif", "contribuinte",
        chance=0.1, needs_hint=True,
    ),
    _national(
        "imei", "IMEI (device)", r"[0-9]{15,16}", "imei", "imei", chance=0.1, needs_hint=True
    ),
)  # fmt: skip

KINDS: tuple[Kind, ...] = _CONTACT + _MONEY + _IDENTITY

_BY_NAME = {kind.name: kind for kind in KINDS}


def kind(name: str) -> Kind | None:
    """The kind of that name; None for those known by column name alone."""
    return _BY_NAME.get(name)


# What every value of any personal kind contains; one linear test that spares the others.
PREFILTER = "|".join(
    (
        r"@",
        rf"{_DIGITS}{{5,}}",
        r"[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4}",
        r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}",
        r":[0-9A-Fa-f]{0,4}:",
        r"(?:[0-9A-Fa-f]{2}-){5}",
        r"[A-Z]{6}[0-9LMNPQRSTUV]{2}[A-EHLMPRST]",
        r"[A-Z]{5}[0-9]{4}[A-Z]",
    )
)
