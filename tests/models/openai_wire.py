"""The two wire formats of OpenAI: what a request must look like, and what answers are made of."""

from collections.abc import Iterator
from typing import Any, Protocol

CHAT = "/v1/chat/completions"
RESPONSES = "/v1/responses"
CREATED = 1_790_000_000


class Replied(Protocol):
    @property
    def text(self) -> Any: ...
    @property
    def calls(self) -> Any: ...
    @property
    def reasoning(self) -> str: ...
    @property
    def finish(self) -> str | None: ...
    @property
    def cached_tokens(self) -> int: ...
    @property
    def usage(self) -> bool: ...


def mistake(path: str, body: dict[str, Any]) -> str | None:
    """What the real server would refuse."""
    if path == CHAT:
        return _chat_mistake(body.get("messages"))
    return _responses_mistake(body.get("input"))


def _chat_mistake(messages: Any) -> str | None:
    if not isinstance(messages, list) or not messages:
        return "messages: too short"
    open_calls: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                return "messages with role 'tool' must follow a message with 'tool_calls'"
            open_calls.discard(message["tool_call_id"])
            continue
        if open_calls:
            return f"tool_call_ids without an answer: {sorted(open_calls)}"
        open_calls = {call["id"] for call in message.get("tool_calls") or ()}
    return f"tool_call_ids without an answer: {sorted(open_calls)}" if open_calls else None


def _responses_mistake(given: Any) -> str | None:
    if not isinstance(given, list) or not given:
        return "input: too short"
    called = {item["call_id"] for item in given if item.get("type") == "function_call"}
    answered = {item["call_id"] for item in given if item.get("type") == "function_call_output"}
    return None if called == answered else f"No tool output found for {sorted(called ^ answered)}"


def whole(path: str, body: dict[str, Any], reply: Replied) -> dict[str, Any]:
    return _completion(body, reply) if path == CHAT else _response(body, reply, "completed")


def events(path: str, body: dict[str, Any], reply: Replied) -> Iterator[dict[str, Any]]:
    return _chunks(body, reply) if path == CHAT else _numbered(_response_events(body, reply))


def _finish(reply: Replied) -> str:
    return reply.finish or ("tool_calls" if reply.calls else "stop")


def _chat_usage(reply: Replied) -> dict[str, Any]:
    return {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
    }


def _completion(body: dict[str, Any], reply: Replied) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "".join(reply.text) or None}
    if reply.calls:
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": text}}
            for n, (name, text) in enumerate(reply.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply), "logprobs": None}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": CREATED,
        "model": body["model"],
        "choices": [choice],
        **({"usage": _chat_usage(reply)} if reply.usage else {}),
    }


def _chunks(body: dict[str, Any], reply: Replied) -> Iterator[dict[str, Any]]:
    base = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": body["model"],
    }

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in reply.text:
        yield chunk({"content": piece})
    for number, (name, text) in enumerate(reply.calls):
        begun = {"name": name, "arguments": ""}
        call = {"index": number, "id": f"call_{number}", "type": "function", "function": begun}
        yield chunk({"tool_calls": [call]})
        for half in (text[: len(text) // 2], text[len(text) // 2 :]):
            yield chunk({"tool_calls": [{"index": number, "function": {"arguments": half}}]})
    yield chunk({}, _finish(reply))
    if reply.usage and (body.get("stream_options") or {}).get("include_usage"):
        yield {**base, "choices": [], "usage": _chat_usage(reply)}


def _items(reply: Replied) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.reasoning:
        summary = [{"type": "summary_text", "text": reply.reasoning}]
        sealed = {"encrypted_content": "sealed", "status": "completed"}
        items.append({"type": "reasoning", "id": "rs_1", "summary": summary, **sealed})
    if reply.text:
        content = [{"type": "output_text", "text": "".join(reply.text), "annotations": []}]
        items.append(
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": content,
            }
        )
    for number, (name, text) in enumerate(reply.calls):
        items.append(
            {
                "type": "function_call",
                "id": f"fc_{number}",
                "call_id": f"call_{number}",
                "name": name,
                "arguments": text,
                "status": "completed",
            }
        )
    return items


def _response(body: dict[str, Any], reply: Replied, status: str) -> dict[str, Any]:
    done = status == "completed"
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": reply.cached_tokens},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 120,
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "model": body["model"],
        "output": _items(reply) if done else [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "temperature": 1.0,
        "top_p": 1.0,
        "usage": usage if done else None,
    }


def _numbered(found: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for number, event in enumerate(found):
        yield {**event, "sequence_number": number}


def _response_events(body: dict[str, Any], reply: Replied) -> Iterator[dict[str, Any]]:
    yield {"type": "response.created", "response": _response(body, reply, "in_progress")}
    yield {"type": "response.in_progress", "response": _response(body, reply, "in_progress")}
    for index, item in enumerate(_items(reply)):
        where = {"item_id": item["id"], "output_index": index}
        match item["type"]:
            case "message":
                yield from _message_events(item, reply, where)
            case "function_call":
                yield from _call_events(item, where)
            case _:
                yield from _reasoning_events(item, where)
    yield {"type": "response.completed", "response": _response(body, reply, "completed")}


def _message_events(
    item: dict[str, Any], reply: Replied, where: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    begun = {**item, "status": "in_progress", "content": []}
    index = where["output_index"]
    inside = {**where, "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": []}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    yield {"type": "response.content_part.added", **inside, "part": empty}
    for piece in reply.text:
        yield {"type": "response.output_text.delta", **inside, "delta": piece, "logprobs": []}
    text = "".join(reply.text)
    yield {"type": "response.output_text.done", **inside, "text": text, "logprobs": []}
    yield {"type": "response.content_part.done", **inside, "part": item["content"][0]}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _call_events(item: dict[str, Any], where: dict[str, Any]) -> Iterator[dict[str, Any]]:
    index, text = where["output_index"], item["arguments"]
    begun = {**item, "status": "in_progress", "arguments": ""}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    for half in (text[: len(text) // 2], text[len(text) // 2 :]):
        yield {"type": "response.function_call_arguments.delta", **where, "delta": half}
    done = {"name": item["name"], "arguments": text}
    yield {"type": "response.function_call_arguments.done", **where, **done}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _reasoning_events(item: dict[str, Any], where: dict[str, Any]) -> Iterator[dict[str, Any]]:
    index, part = where["output_index"], item["summary"][0]
    inside = {**where, "summary_index": 0}
    empty = {"type": "summary_text", "text": ""}
    begun = {**item, "summary": []}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    yield {"type": "response.reasoning_summary_part.added", **inside, "part": empty}
    yield {"type": "response.reasoning_summary_text.delta", **inside, "delta": part["text"]}
    yield {"type": "response.reasoning_summary_text.done", **inside, "text": part["text"]}
    yield {"type": "response.reasoning_summary_part.done", **inside, "part": part}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}
