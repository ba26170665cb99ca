"""A real HTTP server that stands in for Slack's incoming webhooks and keeps what it hears."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Receiver:
    origin: str
    heard: list[dict[str, Any]] = field(default_factory=list)
    came: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"{self.origin}/services/T0P/S3CRET"


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Listens on a free port of this machine until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.heard.append({"path": self.path, **json.loads(body)})
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"ok")
            receiver.came.set()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
