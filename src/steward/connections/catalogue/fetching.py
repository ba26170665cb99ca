"""Gets a description from an address: a document that lies there, or what an API there says of itself."""

import json
from typing import Final

from steward.connections.catalogue.graphql_calls import introspection_request
from steward.connections.catalogue.grpc_calls import reflect
from steward.connections.catalogue.texts import MOST_DESCRIPTION_BYTES
from steward.connections.hosts import is_grpc
from steward.connections.http import Http, HttpAnswer, HttpLimits
from steward.core import Unavailable

_LIMITS: Final = HttpLimits(response_bytes=MOST_DESCRIPTION_BYTES)


async def fetch_description(http: Http, url: str) -> bytes:
    """The description, byte for byte. An address that shows no document is asked as a GraphQL API.

    `grpc://host:port` and `grpcs://host:port` are asked by gRPC's reflection.
    """
    if is_grpc(url):
        return await reflect(http, url)
    answer = await http.request("GET", url, limits=_LIMITS)
    if answer.status == 200 and not _is_page_or_error(answer):
        return answer.body
    wire = introspection_request(url)
    told = await http.request("POST", url, headers=wire.headers, body=wire.body, limits=_LIMITS)
    if told.status == 200 and b'"__schema"' in told.body:
        return told.body
    if told.status in {401, 403}:
        raise Unavailable(
            f"The address answered {told.status}: it does not describe itself without a sign-in. Save its description in "
            "a file and install that."
        )
    raise Unavailable(
        f"There is no description to read at the address: it answered {answer.status} when asked for a document and "
        f"{told.status} when asked as a GraphQL API."
    )


def _is_page_or_error(answer: HttpAnswer) -> bool:
    """What a GraphQL API shows to browsers, or says when it is asked nothing."""
    start = answer.body.lstrip()[:1]
    if start == b"<" or not start:
        return True
    if start != b"{" or len(answer.body) > 100_000:
        return False
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "errors" in found
