"""What somebody may do now, for work that goes on without them: runs, messages of alerts."""

from steward.identity import Access, Identity, Principal, Role, TokenLimits, Via
from steward.store import Scope


def present_access(
    identity: Identity, scope: Scope, user_id: str, token_role: Role | None = None
) -> Access:
    """As they would have it now; a token never gets more than its role. NotFound for who has left."""
    limits = TokenLimits("", scope.project_id, token_role) if token_role is not None else None
    user = identity.users.get(user_id)
    principal = Principal(user.id, user.email, user.name, Via.session, limits=limits)
    return identity.projects.enter(principal, scope.project_id)
