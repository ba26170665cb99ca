"""Files that a call made, as parts of its result: small pictures and texts inside, everything else as a link."""

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import mcp_types as types

from steward.broker import Labels, for_model

MOST_FILES: Final = 20
MOST_MEDIA_BYTES: Final = 1 << 20
"""Of all pictures and sounds of one result."""
MOST_TEXT_BYTES: Final = 16 << 10
"""Of all texts of one result."""
# No SVG: it is a document with scripts, and clients get it as a link.
_PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_TEXTS: Final = ("text/", "application/json", "application/vnd.vegalite")


def is_text(media_type: str) -> bool:
    return media_type.startswith(_TEXTS)


class FileContents:
    """Turns the files of one call into content, within limits that hold for all of them together."""

    def __init__(self, read: Callable[[str], bytes], labels: Labels, nonce: str) -> None:
        self._read = read
        self._labels = labels
        self._nonce = nonce
        self._media_left = MOST_MEDIA_BYTES
        self._text_left = MOST_TEXT_BYTES

    def of(self, run_id: str, artifacts: Iterable[Mapping[str, Any]]) -> list[types.ContentBlock]:
        return [self._one(run_id, each) for each in list(artifacts)[:MOST_FILES]]

    def _one(self, run_id: str, artifact: Mapping[str, Any]) -> types.ContentBlock:
        uri, media = uri_of(run_id, artifact), str(artifact["media_type"]).partition(";")[0]
        size = int(artifact["size"])
        if (media in _PICTURES or media.startswith("audio/")) and size <= self._media_left:
            self._media_left -= size
            data = base64.b64encode(self._read(artifact["digest"])).decode()
            if media in _PICTURES:
                return types.ImageContent(data=data, mime_type=media)
            return types.AudioContent(data=data, mime_type=media)
        if is_text(media) and size <= self._text_left:
            self._text_left -= size
            text = self._read(artifact["digest"]).decode("utf-8", "replace")
            shown = for_model(text, self._labels, self._nonce)
            return types.EmbeddedResource(
                resource=types.TextResourceContents(uri=uri, mime_type=media, text=shown)
            )
        return types.ResourceLink(name=artifact["name"], uri=uri, mime_type=media, size=size)


def uri_of(run_id: str, artifact: Mapping[str, Any]) -> str:
    return f"steward://runs/{run_id}/artifacts/{artifact['digest']}"
