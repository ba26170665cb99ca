"""Who keeps this installation: the people to whom its machine, its environment and its home folder belong."""

from steward.core import Denied, NotFound
from steward.identity import Access, Identity, Role
from steward.store import Scope


class Keepers:
    """A keeper is an admin of the project who owns the organisation that the installation's first owner owns.

    In other organisations of the same installation nobody is a keeper: their admins govern their data, not the
    machine.
    """

    def __init__(self, identity: Identity) -> None:
        self._identity = identity

    def include(self, access: Access) -> bool:
        return access.role >= Role.admin and self.keeps(access.scope, access.user_id)

    def keeps(self, scope: Scope, user_id: str) -> bool:
        """Whether somebody owns the organisation that the installation's first owner owns."""
        first = self._identity.users.first_owner()
        members = self._identity.members
        return (
            first is not None
            and members.owns_organisation(scope, first.id)
            and members.owns_organisation(scope, user_id)
        )

    def require(self, access: Access, what: str) -> None:
        if not self.include(access):
            raise Denied(
                f"Only an owner of the organisation that runs this installation may {what}.",
                code="not-a-keeper",
            )

    def require_sight(self, access: Access) -> None:
        """To all others there is nothing of the machine to see."""
        if not self.include(access):
            raise NotFound(
                "There is nothing here, or it is not open to you: what is configured on this machine is shown to "
                "owners of the organisation that runs this installation.",
                code="not-a-keeper",
            )
