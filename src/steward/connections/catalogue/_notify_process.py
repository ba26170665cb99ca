"""Writes a notification with apprise, in a process that cannot reach anything: its requests go to the parent as lines of JSON."""

import base64
import json
import sys
from typing import Any

_REFUSED = (
    "socket.connect",
    "socket.bind",
    "socket.sendto",
    "subprocess.Popen",
    "os.system",
    "os.exec",
)


def _refuse(event: str, _: Any) -> None:
    if event.startswith(_REFUSED):
        raise PermissionError("only requests by HTTP go out, through Steward")


def main() -> None:
    request = json.loads(sys.stdin.readline())
    # Apprise writes messages of its own; only lines of ours go to the parent.
    out, sys.stdout = sys.stdout, sys.stderr
    import requests
    from apprise import Apprise, AppriseAsset, NotifyType

    def send(_adapter: Any, prepared: Any, **_: Any) -> Any:
        body = prepared.body or b""
        content = body.encode() if isinstance(body, str) else bytes(body)
        told = {
            "method": prepared.method,
            "url": prepared.url,
            "headers": dict(prepared.headers),
            "body": base64.b64encode(content).decode(),
        }
        print(json.dumps(told), file=out, flush=True)
        answer = json.loads(sys.stdin.readline())
        if "refused" in answer:
            raise requests.ConnectionError(answer["refused"])
        response = requests.Response()
        response.status_code = answer["status"]
        response._content = base64.b64decode(answer["body"])
        response.headers = requests.structures.CaseInsensitiveDict(answer["headers"])
        response.url = prepared.url
        response.request = prepared
        return response

    requests.adapters.HTTPAdapter.send = send  # type: ignore[method-assign,assignment]
    sys.addaudithook(_refuse)
    asset = AppriseAsset(async_mode=False, plugin_paths=[], secure_logging=True)
    plugin = Apprise.instantiate(request["settings"], asset=asset, suppress_exceptions=True)
    if plugin is None:
        told = {"done": False, "unfit": True}
    else:
        kind = {each.value: each for each in NotifyType}[request["kind"]]
        sent = plugin.notify(body=request["body"], title=request["title"], notify_type=kind)
        told = {"done": bool(sent), "unfit": False}
    print(json.dumps(told), file=out, flush=True)


if __name__ == "__main__":
    main()
