"""Recorded runs: a capsule or test file is replayed without a model and must come out as it did."""

import asyncio
import re
from typing import ClassVar

from pydantic import Field

from steward.evaluation.case import KINDS, Case, Findings
from steward.evaluation.script import read_beside
from steward.evaluation.stage import Stage
from steward.runs import Json, canonical, unpack

_ENDED = {"cancelled": "stopped"}
_MARK = re.compile(r"<<(untrusted|end) [0-9a-z]+>>")


def _bare(value: Json) -> str:
    """Without the word that marks foreign text: each installation has its own, so that nobody can guess it."""
    return _MARK.sub(r"<<\1>>", canonical(value))


class ReplayCase(Case):
    kind: ClassVar[str] = "replay"
    file: str = Field(
        min_length=1, max_length=400, description="A capsule or test file beside the suite."
    )

    def judge(self, stage: Stage, findings: Findings) -> None:
        capsule = unpack(read_beside(stage.folder, self.file))
        report = asyncio.run(stage.site.runs.replay_capsule(capsule))
        findings.facts |= {"steps": report.steps, "ended": report.ended}
        findings.problems += [
            f"{each.key}: {each.what}"
            for each in report.divergences
            if _bare(each.recorded) != _bare(each.replayed)
        ]
        status = (capsule.expect or capsule.run)["status"]
        wanted = _ENDED.get(status, status)
        findings.expect(report.ended == wanted, f"it ended {report.ended}, not {wanted}")


KINDS.add("replay", ReplayCase)
