"""Roles, lowest first. From viewer on each may do all that the ones before it may; a runner stands apart."""

from enum import IntEnum

from steward.core import Invalid


class Role(IntEnum):
    runner = 1
    """Runs the playbooks that are shared with them and answers what these ask; to them there is nothing else."""
    viewer = 2
    """Sees everything in the project."""
    operator = 3
    """Starts runs, answers questions, approves what policy lets them approve."""
    editor = 4
    """Changes data, flows, playbooks and connections."""
    admin = 5
    """Manages members, secrets and project settings."""
    owner = 6
    """Deletes the project and names other owners."""

    @property
    def acts(self) -> bool:
        """Whether they start runs and answer them: a runner does, for what is theirs; a viewer only looks."""
        return self is Role.runner or self >= Role.operator


def within(role: Role, limit: Role) -> Role | None:
    """What a token limited to one role may do for somebody who has the other.

    A viewer's token does not act, and a runner's shows nothing but what is theirs: together they leave nothing.
    """
    if Role.runner in {role, limit} and not (role.acts and limit.acts):
        return None
    return min(role, limit)


def parse_role(name: str) -> Role:
    try:
        return Role[name]
    except KeyError:
        known = ", ".join(role.name for role in Role)
        raise Invalid(f"There is no role {name!r}. Roles are: {known}.") from None
