"""Forks with data: a forked run works on a branch of its own, cut where the original stood at that step."""

from collections.abc import Mapping
from dataclasses import replace

from steward.broker.grants import Grant
from steward.broker.rulebook import Rulebook
from steward.core import Conflict, Ids
from steward.identity import Access, Role
from steward.runs import Json, Kind, Run, Runs, prefix
from steward.versions import Versions

_PAGE = 200


class Forking:
    def __init__(self, runs: Runs, versions: Versions, ids: Ids, rulebook: Rulebook) -> None:
        self._runs = runs
        self._rulebook = rulebook
        self._versions = versions
        self._ids = ids

    def fork(
        self, access: Access, run_id: str, *, at: str | None, changes: Mapping[str, Json]
    ) -> Run:
        """Starts the fork; the original and its branch stay as they are."""
        access.require(Role.editor)
        source = self._runs.get(access.scope, run_id)
        grant = Grant.from_json(self._runs.request(access.scope, run_id).grant)
        if grant.direct:
            # Its arguments were looked at where somebody gave them: who may name which run, and with which role.
            raise Conflict("What somebody did by hand has no steps to fork. Do it again instead.")
        if any(pointer.split("/")[1:2] == ["document"] for pointer in changes):
            grant = self._of_nobodys_playbook(access, grant)
        commit = self._commit_at(access, source, grant.branch, at)
        branch = f"{grant.branch}/{self._ids.new('fork')}"
        workspace = self._versions.workspace(access.scope, access.user_id)
        workspace.create_branch(branch, commit, of_a_run=True)
        given = replace(grant, branch=branch).started_by(access).to_json()
        return self._runs.fork(
            access.scope, access.user_id, run_id, at=at, changes=changes, grant=given
        )

    def _of_nobodys_playbook(self, access: Access, grant: Grant) -> Grant:
        """With another flow it is not the playbook's run: rules that let the playbook do more do not count for it.

        What the playbook's own rules forbid stays forbidden.
        """
        if grant.playbook is None:
            return grant
        own = self._rulebook.current(access.scope, "playbook", grant.playbook).text
        policies = (*grant.policies, *([own] if own else []))
        return replace(grant, playbook=None, revision=None, deployment=None, policies=policies)

    def _commit_at(self, access: Access, run: Run, branch: str, at: str | None) -> str:
        """The commit that the step saw: the run's own last one before it, or the branch's at the start."""
        kept = prefix(self._runs.journal.entries(access.scope, run.id), at)
        for entry in reversed(kept):
            if entry.kind == Kind.outcome and "result" in entry.data:
                outcome = self._runs.payload(entry.data["result"])
                if isinstance(outcome, dict) and outcome.get("commits"):
                    return str(outcome["commits"][-1])
        workspace = self._versions.workspace(access.scope, access.user_id)
        after: str | None = None
        while page := workspace.log(branch, after=after, limit=_PAGE):
            for commit in page:
                if commit.run_id != run.id and commit.created_at <= run.created_at:
                    return commit.id
            after = page[-1].id
        return workspace.commit_at(branch).id
