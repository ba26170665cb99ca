"""Where other programs send their spans: OpenTelemetry's protocol over HTTP, per project."""

from fastapi import Request, Response

from steward.api.context import context_of
from steward.api.guards import AsOperator
from steward.api.routing import Router
from steward.observe import JSON, PROTOBUF, answer_to, spans_of_request

router = Router(prefix="/projects/{project_id}", tags=["observe"])
_REQUEST = {
    "requestBody": {
        "required": True,
        "content": {
            PROTOBUF: {"schema": {"type": "string", "format": "binary"}},
            JSON: {"schema": {"type": "object"}},
        },
    }
}


@router.post(
    "/otlp/v1/traces",
    response_class=Response,
    responses={
        200: {
            "content": {
                PROTOBUF: {"schema": {"type": "string", "format": "binary"}},
                JSON: {"schema": {"type": "object"}},
            },
            "description": "Empty, or how many spans were not kept and why.",
        }
    },
    openapi_extra=_REQUEST,
)
async def receive_spans(request: Request, access: AsOperator) -> Response:
    """Takes spans of other programs; the trace of a run shows those that name its trace id."""
    context = context_of(request)
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = request.headers.get("content-encoding", "")
    body = await request.body()

    def take() -> bytes:
        spans, wrong = spans_of_request(media_type, encoding, body)
        refused = context.steward.observations.received.take(access.scope, spans)
        why = (
            f"{wrong:,} spans have no valid ids or times; there was no room for {refused:,} others."
        )
        return answer_to(media_type, wrong + refused, why)

    content = await context.in_turn(access, take)
    return Response(content, media_type=media_type)
