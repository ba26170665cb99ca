"""What the SCIM door says of itself, and people and groups in SCIM's shape (RFC 7643)."""

from typing import Any, Final

from steward.identity import GROUP, USER, Record, attribute_name

LIST: Final = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
ERROR: Final = "urn:ietf:params:scim:api:messages:2.0:Error"
MOST: Final = 200
_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:Schema"
_TYPE: Final = "urn:ietf:params:scim:schemas:core:2.0:ResourceType"
_CONFIG: Final = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"


def user_document(record: Record, base: str) -> dict[str, Any]:
    document = {"schemas": [USER], "id": record.id, **record.document}
    if record.related:
        document["groups"] = [
            {"value": each, "display": name, "$ref": f"{base}/Groups/{each}"}
            for each, name in record.related
        ]
    return document | {"meta": _meta(record, "User", f"{base}/Users/{record.id}")}


def group_document(record: Record, base: str) -> dict[str, Any]:
    document = {"schemas": [GROUP], "id": record.id, **record.document}
    if record.related:
        document["members"] = [
            {"value": each, "$ref": f"{base}/Users/{each}", "type": "User"}
            for each, _ in record.related
        ]
    return document | {"meta": _meta(record, "Group", f"{base}/Groups/{record.id}")}


def narrowed(
    document: dict[str, Any], attributes: str | None, excluded: str | None
) -> dict[str, Any]:
    """Only the named attributes, or all but them; what names a document is always there (RFC 7644, 3.9)."""
    if attributes:
        wanted = _names(attributes)
        found = {name: each for name, each in document.items() if name.lower() in wanted}
        for name, each in document.items():
            inside = {step for top, _, step in map(_split, wanted) if top == name.lower() and step}
            if inside and isinstance(each, dict) and name.lower() not in wanted:
                found[name] = {key: value for key, value in each.items() if key.lower() in inside}
    elif excluded:
        gone = _names(excluded)
        found = {name: each for name, each in document.items() if name.lower() not in gone}
        for name, each in found.items():
            inside = {step for top, _, step in map(_split, gone) if top == name.lower() and step}
            if inside and isinstance(each, dict):
                found[name] = {
                    key: value for key, value in each.items() if key.lower() not in inside
                }
    else:
        return document
    return {"schemas": document["schemas"], "id": document["id"]} | found


def _names(text: str) -> set[str]:
    return {attribute_name(each.strip()) for each in text.split(",") if each.strip()}


def _split(name: str) -> tuple[str, str, str]:
    return name.partition(".")


def _meta(record: Record, kind: str, location: str) -> dict[str, Any]:
    return {
        "resourceType": kind,
        "created": record.created_at.isoformat().replace("+00:00", "Z"),
        "lastModified": record.updated_at.isoformat().replace("+00:00", "Z"),
        "location": location,
        "version": f'W/"{record.revision}"',
    }


def listed(items: list[dict[str, Any]], start: int, count: int) -> dict[str, Any]:
    shown = items[start - 1 : start - 1 + count]
    return {
        "schemas": [LIST],
        "totalResults": len(items),
        "startIndex": start,
        "itemsPerPage": len(shown),
        "Resources": shown,
    }


def config_document(base: str) -> dict[str, Any]:
    return {
        "schemas": [_CONFIG],
        "patch": {"supported": True},
        "bulk": {"supported": False, "maxOperations": 0, "maxPayloadSize": 0},
        "filter": {"supported": True, "maxResults": MOST},
        "changePassword": {"supported": False},
        "sort": {"supported": False},
        "etag": {"supported": False},
        "authenticationSchemes": [
            {
                "type": "oauthbearertoken",
                "name": "Provisioning token",
                "description": "A token of the directory, sent as 'Authorization: Bearer'.",
                "primary": True,
            }
        ],
        "meta": {
            "resourceType": "ServiceProviderConfig",
            "location": f"{base}/ServiceProviderConfig",
        },
    }


def type_documents(base: str) -> list[dict[str, Any]]:
    return [
        {
            "schemas": [_TYPE],
            "id": name,
            "name": name,
            "endpoint": f"/{name}s",
            "description": name,
            "schema": schema,
            "meta": {"resourceType": "ResourceType", "location": f"{base}/ResourceTypes/{name}"},
        }
        for name, schema in (("User", USER), ("Group", GROUP))
    ]


def schema_documents(base: str) -> list[dict[str, Any]]:
    return [
        {
            "schemas": [_SCHEMA],
            "id": schema,
            "name": name,
            "description": description,
            "attributes": attributes,
            "meta": {"resourceType": "Schema", "location": f"{base}/Schemas/{schema}"},
        }
        for schema, name, description, attributes in (
            (USER, "User", "A person", _USER_ATTRIBUTES),
            (GROUP, "Group", "A group of people", _GROUP_ATTRIBUTES),
        )
    ]


def _attribute(name: str, kind: str = "string", **more: Any) -> dict[str, Any]:
    plain = {
        "name": name,
        "type": kind,
        "multiValued": False,
        "description": more.pop("description", name),
        "required": False,
        "mutability": "readWrite",
        "returned": "default",
        "uniqueness": "none",
    }
    return plain | ({"caseExact": False} if kind == "string" else {}) | more


_USER_ATTRIBUTES: Final = [
    _attribute("userName", required=True, uniqueness="server"),
    _attribute("displayName"),
    _attribute("active", "boolean"),
    _attribute(
        "name",
        "complex",
        subAttributes=[
            _attribute("formatted"),
            _attribute("familyName"),
            _attribute("givenName"),
        ],
    ),
    _attribute(
        "emails",
        "complex",
        multiValued=True,
        required=True,
        subAttributes=[
            _attribute("value", required=True),
            _attribute("type"),
            _attribute("primary", "boolean"),
        ],
    ),
    _attribute(
        "groups",
        "complex",
        multiValued=True,
        mutability="readOnly",
        subAttributes=[
            _attribute("value", mutability="readOnly"),
            _attribute("$ref", "reference", referenceTypes=["Group"], mutability="readOnly"),
            _attribute("display", mutability="readOnly"),
        ],
    ),
]
_GROUP_ATTRIBUTES: Final = [
    _attribute("displayName", required=True, uniqueness="server"),
    _attribute(
        "members",
        "complex",
        multiValued=True,
        subAttributes=[
            _attribute("value", mutability="immutable"),
            _attribute("$ref", "reference", referenceTypes=["User"], mutability="immutable"),
            _attribute("type", mutability="readOnly", canonicalValues=["User"]),
        ],
    ),
]
