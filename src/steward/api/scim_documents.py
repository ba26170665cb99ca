"""What the SCIM door says of itself, and people and groups in SCIM's shape (RFC 7643)."""

from collections.abc import Sequence
from typing import Any, Final

from steward.core import package_yaml
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
    meta = {"resourceType": "ServiceProviderConfig", "location": f"{base}/ServiceProviderConfig"}
    known = package_yaml("steward.api", "scim.yaml")["config"]
    filters = {"supported": True, "maxResults": MOST}
    return {"schemas": [_CONFIG], **known, "filter": filters, "meta": meta}


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
            "attributes": _attributes(key),
            "meta": {"resourceType": "Schema", "location": f"{base}/Schemas/{schema}"},
        }
        for schema, name, description, key in (
            (USER, "User", "A person", "user"),
            (GROUP, "Group", "A group of people", "group"),
        )
    ]


def _attributes(key: str) -> list[dict[str, Any]]:
    return [_attribute(**each) for each in package_yaml("steward.api", "scim.yaml")[key]]


def _attribute(
    name: str,
    type: str = "string",  # noqa: A002
    subAttributes: Sequence[dict[str, Any]] = (),  # noqa: N803
    **more: Any,
) -> dict[str, Any]:
    plain = {
        "name": name,
        "type": type,
        "multiValued": False,
        "description": name,
        "required": False,
        "mutability": "readWrite",
        "returned": "default",
        "uniqueness": "none",
    }
    inner = [_attribute(**each) for each in subAttributes]
    exact = {"caseExact": False} if type == "string" else {}
    return plain | exact | more | ({"subAttributes": inner} if inner else {})
