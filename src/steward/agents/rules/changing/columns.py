"""What else a changed query shows: columns of its dataset, or of one that a key reaches."""

from steward.agents.rules.asking import Ask
from steward.agents.rules.changing.work import Work
from steward.agents.rules.grouping import Dimension
from steward.agents.rules.naming import columns_in, link
from steward.agents.rules.querying import placed


def wanted_columns(work: Work) -> list[tuple[Dimension, range]]:
    """ "With product name": columns here, or in a dataset that is reached by a key."""
    ask, dataset, found = work.ask, work.dataset, []
    for _, end in ask.places(
        ("with the", "with", "plus", "include", "including", "add", "show also")
    ):
        own = [each for each in columns_in(ask, dataset, end) if each.start - end <= 1]
        if own and work.made.get("aggregate") and own[0].column.kind == "number":
            # Another measure, not another group.
            continue
        if own and not _compares(ask, own[0].end):
            found.append((Dimension(own[0].column), range(own[0].start, own[0].end)))
            continue
        for other in ask.catalogue.datasets.values():
            reached = None if other.name == dataset.name else link(ask.catalogue, dataset, other)
            theirs = [
                each for each in columns_in(ask, other, end, least=1.5) if each.start - end <= 1
            ]
            if reached is not None and theirs:
                one = theirs[0]
                found.append((Dimension(one.column, None, reached), range(one.start, one.end)))
                break
    return found


def show_columns(work: Work, wanted: list[tuple[Dimension, range]]) -> None:
    made = work.made
    for dimension, _ in wanted:
        name = placed(made, work.dataset, dimension)
        target = "group" if made.get("aggregate") else "select"
        if target == "select" and not made.get("select"):
            if dimension.link is None:
                continue
        elif name not in made.get(target, []):
            made.setdefault(target, []).append(name)
        work.said.append(f"with {name}")


def _compares(ask: Ask, at: int) -> bool:
    return at < len(ask.words) and ask.words[at] in {
        *("is", "=", "over", "above", "under", "below", "more", "less", "of")
    }
