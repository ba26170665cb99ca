"""People and groups as SCIM writes them: what is kept of them, and what is refused."""

from collections.abc import Mapping
from typing import Any, Final

from steward.core import Invalid
from steward.identity.users import MAX_NAME, canonical_email

USER: Final = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP: Final = "urn:ietf:params:scim:schemas:core:2.0:Group"
LONGEST: Final = 254
_MOST_EMAILS: Final = 20
MOST_MEMBERS: Final = 20_000
_NAMES: Final = ("formatted", "familyName", "givenName")
_EMAIL: Final = ("value", "type", "primary")


def kept_user(given: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a person that are kept; what Steward does not know is left out."""
    document = _in_own_case(
        given, ("userName", "externalId", "displayName", "active", "name", "emails")
    )
    document["userName"] = _text(document.get("userName"), "userName")
    for name in ("externalId", "displayName"):
        if document.get(name) is not None:
            document[name] = _text(document[name], name)
        else:
            document.pop(name, None)
    if document.get("active") is not None:
        document["active"] = _truth(document["active"])
    document["name"] = _name(document.get("name"))
    document["emails"] = _emails(document.get("emails"))
    return {key: value for key, value in document.items() if value not in (None, {}, [])}


def kept_group(given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The attributes of a group that are kept, and the ids of its members."""
    document = _in_own_case(given, ("displayName", "externalId", "members"))
    members = document.pop("members", None) or []
    if not isinstance(members, list) or len(members) > MOST_MEMBERS:
        raise Invalid(f"members is a list of up to {MOST_MEMBERS:,}.", code="invalidValue")
    found = []
    for each in members:
        value = each.get("value") if isinstance(each, Mapping) else None
        if not isinstance(value, str):
            raise Invalid("Each member names its value, the id of a user.", code="invalidValue")
        found.append(value)
    document["displayName"] = _text(document.get("displayName"), "displayName")
    if document.get("externalId") is not None:
        document["externalId"] = _text(document["externalId"], "externalId")
    else:
        document.pop("externalId", None)
    return document, list(dict.fromkeys(found))


def email_of(document: Mapping[str, Any]) -> str:
    """The address by which the account is known: the primary one, else the first, else the user name."""
    emails = document.get("emails", [])
    first = next((each for each in emails if each.get("primary")), emails[0] if emails else {})
    try:
        return canonical_email(first.get("value") or document["userName"])
    except Invalid:
        raise Invalid(
            "A person needs an e-mail address: in emails, or as userName.", code="invalidValue"
        ) from None


def name_of(document: Mapping[str, Any]) -> str:
    name = document.get("name", {})
    whole = " ".join(filter(None, (name.get("givenName"), name.get("familyName"))))
    shown = document.get("displayName") or name.get("formatted") or whole or document["userName"]
    plain = "".join(each for each in shown if each.isprintable()).strip()
    return plain[:MAX_NAME] or document["userName"][:MAX_NAME]


def _in_own_case(given: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    known = {name.lower(): name for name in names}
    return {known[key.lower()]: value for key, value in given.items() if key.lower() in known}


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST:
        raise Invalid(f"{name} is text of 1 to {LONGEST} characters.", code="invalidValue")
    if any(ord(each) < 32 or "\ud800" <= each <= "\udfff" for each in value):
        raise Invalid(f"{name} holds characters that are no text.", code="invalidValue")
    return value.strip()


def _truth(value: Any) -> bool:
    # Some providers write it as text.
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise Invalid("active is true or false.", code="invalidValue")
    return value


def _name(value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise Invalid("name is an object.", code="invalidValue")
    known = _in_own_case(value, _NAMES)
    return {key: _text(each, f"name.{key}") for key, each in known.items() if each}


def _emails(value: Any) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > _MOST_EMAILS:
        raise Invalid(f"emails is a list of up to {_MOST_EMAILS}.", code="invalidValue")
    found = []
    for each in value:
        if not isinstance(each, Mapping):
            raise Invalid("Each e-mail address is an object.", code="invalidValue")
        known = _in_own_case(each, _EMAIL)
        email: dict[str, Any] = {"value": _text(known.get("value"), "emails.value")}
        if known.get("type"):
            email["type"] = _text(known["type"], "emails.type")
        if known.get("primary") is not None:
            email["primary"] = _truth(known["primary"])
        found.append(email)
    return found
