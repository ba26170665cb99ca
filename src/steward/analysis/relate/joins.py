"""From a confirmed inclusion to a relationship in words, with the join it suggests."""

from steward.analysis.relate.foreign import Found
from steward.analysis.relate.keytext import MEANING
from steward.analysis.relate.model import Join, Relationship


def relationship(found: Found, kind: str) -> Relationship:
    inclusion = found.inclusion
    table, columns = found.from_columns
    referenced_table, referenced_columns = found.to_columns
    return Relationship(
        kind=kind,
        table=table,
        columns=columns,
        referenced_table=referenced_table,
        referenced_columns=referenced_columns,
        cardinality=_cardinality(found),
        coverage=round(inclusion.coverage, 6),
        coverage_exact=round(inclusion.coverage_exact, 6),
        normalisation=inclusion.normalisation,
        rows=inclusion.rows,
        null_rows=inclusion.rows - inclusion.filled,
        orphan_rows=inclusion.filled - inclusion.matched,
        orphan_values=inclusion.orphan_values,
        distinct_values=inclusion.values,
        referenced_rows=found.referenced[0].rows,
        unreferenced_rows=found.referenced[0].rows - inclusion.referenced_matched,
        largest_fan_out=inclusion.most_dependent,
        name_score=found.evidence.name,
        type_score=found.evidence.type,
        score=round(min(1.0, found.score), 3),
        reason=_reason(found),
        join=_join(found),
    )


def _cardinality(found: Found) -> str:
    """Read from the referenced side: `1:n` is one referenced row to many dependent ones."""
    if found.inclusion.most_referenced > 1:
        return "n:m" if found.inclusion.most_dependent > 1 else "n:1"
    return "1:1" if found.inclusion.most_dependent == 1 else "1:n"


def _reason(found: Found) -> str:
    inclusion = found.inclusion
    target = f"{found.to_columns[0]}.{', '.join(found.to_columns[1])}"
    counted = f"{inclusion.matched:,} of {inclusion.filled:,} values ({inclusion.coverage:.1%})"
    said = [f"{counted} occur in {target}"]
    if inclusion.normalisation != "exact":
        said.append(
            f"compared {MEANING[inclusion.normalisation]}; as written only {inclusion.coverage_exact:.1%} match"
        )
    if found.evidence.name >= 0.7:
        said.append("the names speak of the same thing")
    elif found.evidence.bits >= 40:
        said.append("the names do not tell, but such values do not agree by chance")
    if found.evidence.type < 0.9:
        types = f"{found.dependent[0].type} and {found.referenced[0].type}"
        said.append(f"the types differ ({types}) and are compared as text")
    orphans = inclusion.filled - inclusion.matched
    if orphans:
        said.append(f"{orphans:,} rows with {inclusion.orphan_values:,} values point nowhere")
    return "; ".join(said)


def _join(found: Found) -> Join:
    inclusion = found.inclusion
    table, columns = found.from_columns
    referenced_table, referenced_columns = found.to_columns
    orphans = inclusion.filled - inclusion.matched
    nulls = inclusion.rows - inclusion.filled
    if inclusion.most_referenced > 1:
        how = "left"
        reason = (
            f"many to many: one row of {table} may meet up to {inclusion.most_referenced:,} rows of "
            f"{referenced_table}, so the result grows; make one side unique first"
        )
    elif orphans or nulls:
        how = "left"
        reason = (
            f"a left join keeps the {orphans + nulls:,} rows of {table} without a partner "
            f"({orphans:,} point nowhere, {nulls:,} have no value); no row is repeated"
        )
    else:
        how = "inner"
        reason = (
            f"every row of {table} has exactly one partner: nothing is lost, nothing is repeated"
        )
    return Join(
        left=table,
        right=referenced_table,
        on=tuple(zip(columns, referenced_columns, strict=True)),
        how=how,
        normalisation=inclusion.normalisation,
        reason=reason,
    )
