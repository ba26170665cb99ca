"""Roles, lowest first; each may do all that the ones before it may."""

from enum import IntEnum

from steward.core.errors import Invalid


class Role(IntEnum):
    viewer = 1
    """Sees everything in the project."""
    operator = 2
    """Starts runs, answers questions, approves what policy lets them approve."""
    editor = 3
    """Changes data, flows, playbooks and connections."""
    admin = 4
    """Manages members, secrets and project settings."""
    owner = 5
    """Deletes the project and names other owners."""


def parse_role(name: str) -> Role:
    try:
        return Role[name]
    except KeyError:
        known = ", ".join(role.name for role in Role)
        raise Invalid(f"There is no role {name!r}. Roles are: {known}.") from None
