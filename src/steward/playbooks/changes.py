"""What differs between two revisions of a playbook, in lines that people read."""

from steward.core import Invalid
from steward.flows import diff as flow_diff
from steward.flows import differences
from steward.playbooks.compiling import compiled
from steward.playbooks.documents import as_json
from steward.playbooks.model import Playbook


def changes_between(old: Playbook, new: Playbook) -> list[str]:
    """One line for each thing that differs; steps and nodes by their names."""
    apart = {"steps", "graph", "output", "inputs", "artifacts"}
    before = {name: value for name, value in as_json(old).items() if name not in apart}
    after = {name: value for name, value in as_json(new).items() if name not in apart}
    try:
        inside = flow_diff(compiled(old), compiled(new))
    except Invalid:
        inside = differences(
            {name: as_json(old).get(name) for name in apart},
            {name: as_json(new).get(name) for name in apart},
        )
    repeated = ("id:", "name:", "description:")
    return differences(before, after) + [line for line in inside if not line.startswith(repeated)]
