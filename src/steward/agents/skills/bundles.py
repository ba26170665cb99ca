"""Versions of skills as blobs: one blob holds all files of a version, and a few are kept at hand."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from steward.agents.skills.archives import pack, unpack
from steward.agents.skills.builtin import content_digest
from steward.agents.skills.check import check
from steward.agents.skills.model import Origin, Skill, SkillDocument, refused
from steward.core import Misconfigured
from steward.store import BlobStore

# Sets the blob apart from an archive that somebody uploads: those are swept when nobody needs them.
_MARK: Final = b"steward skill 1\n"
_KEPT: Final = 64


class Bundles:
    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._read: OrderedDict[str, tuple[SkillDocument, dict[str, bytes]]] = OrderedDict()

    def put(self, files: Mapping[str, bytes]) -> tuple[str, str]:
        """Keeps the files of a version; the blob and the digest of the content."""
        blob = self._blobs.put([_MARK, pack(files)])
        return blob.digest, content_digest(files)

    def get(self, name: str, version: int, digest: str, bundle: str) -> Skill:
        document, files = self._content(name, bundle)
        return Skill(name, version, digest, Origin.project, document, files)

    def _content(self, name: str, bundle: str) -> tuple[SkillDocument, dict[str, bytes]]:
        known = self._read.get(bundle)
        if known is not None:
            return known
        content = b"".join(self._blobs.read(bundle))
        if not content.startswith(_MARK):
            raise Misconfigured(f"The stored files of the skill {name!r} are damaged.")
        files = unpack(content[len(_MARK) :])
        found = check(files, name)
        if found.document is None:
            # It was valid when it was saved, so an older Steward was less strict.
            raise refused(found.faults)
        self._read[bundle] = (found.document, files)
        while len(self._read) > _KEPT:
            self._read.popitem(last=False)
        return found.document, files
