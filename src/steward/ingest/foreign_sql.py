"""The fence around SQL that is sent to somebody else's database: one SELECT, written anew from its parsed tree.

The session is read-only as well, and the database's own rights hold. But a read-only session can still read files of
the server, call other machines or end other sessions through functions, so functions come from a list.
"""

from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from steward.core import Denied, Invalid, TooLarge

DIALECTS: Final = {
    "postgresql": "postgres",
    "mysql": "mysql",
    "sqlite": "sqlite",
    "duckdb": "duckdb",
}
LONGEST: Final = 50_000
_QUERIES: Final = (exp.Select, exp.SetOperation, exp.Values)
_REFUSED: Final = (
    exp.DML,
    exp.DDL,
    exp.Command,
    exp.Copy,
    exp.Attach,
    exp.Detach,
    exp.Pragma,
    exp.Set,
    exp.Use,
    exp.Describe,
    exp.Into,
    exp.Lock,
    exp.Transaction,
    exp.Drop,
    exp.Alter,
    exp.SessionParameter,
    exp.Parameter,
    exp.Placeholder,
    exp.ReadCSV,
    exp.ReadParquet,
    exp.NextValueFor,
)
# A Select is DML in sqlglot's tree too.
_FINE: Final = (exp.Select, exp.SetOperation, exp.Values, exp.Subquery)
# Tables with other people's passwords.
_CLOSED_TABLES: Final = frozenset({"pg_authid", "pg_shadow", "pg_user_mapping", "pg_user_mappings"})
_CLOSED_SCHEMAS: Final = frozenset({"mysql"})
# Functions that sqlglot has no class of its own for; what reads, waits, calls or changes is not among them.
_NAMES: Final = """
    age array_dims array_fill array_lower array_ndims array_positions array_replace array_to_json array_upper
    bit_and bit_count bit_or bit_xor bool_and bool_or btrim cardinality char_length clock_timestamp concat_ws
    convert_from convert_to curdate curtime date_format date_part dayofyear div elt every field find_in_set
    format from_days from_unixtime gen_random_uuid glob hypot if ifnull inet_aton inet_ntoa initcap instr isfinite
    json_agg json_array_elements json_array_elements_text json_array_length json_build_array
    json_build_object json_each json_each_text json_extract json_extract_path json_extract_path_text
    json_group_array json_group_object json_object_agg json_object_keys json_quote json_typeof json_unquote
    json_valid jsonb_agg jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array
    jsonb_build_object jsonb_each jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_object_agg
    jsonb_object_keys jsonb_path_query jsonb_pretty jsonb_typeof julianday justify_days justify_hours lcase
    list_aggregate list_contains locate lpad ltrim make_date make_interval make_time make_timestamp
    make_timestamptz makedate maketime md5 mid mod now nullif num_nonnulls num_nulls numeric_scale octet_length
    ord overlay parse_ident period_add period_diff position printf quarter quote quote_ident quote_literal
    quote_nullable regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace
    regexp_split_to_array regexp_split_to_table regexp_substr row_to_json rpad rtrim scale sec_to_time
    split_part statement_timestamp starts_with str_to_date strftime string_agg string_to_array string_to_table
    strpos substr substring_index sysdate time_format time_to_sec timediff timeofday timestampadd
    timestampdiff to_ascii to_char to_date to_days to_hex to_json to_jsonb to_number to_seconds to_timestamp
    total transaction_timestamp translate trim_array trim_scale trunc typeof ucase unicode unixepoch utc_date
    utc_time utc_timestamp version sqlite_version weekday width_bucket xmlagg yearweek zeroblob
"""
_FUNCTIONS: Final = frozenset(_NAMES.split())


def fenced(sql: str, kind: str, most: int) -> str:
    """The statement to run: the same question, without comments, for at most `most` rows; or Invalid, or Denied."""
    if len(sql) > LONGEST:
        raise TooLarge(f"The statement is longer than {LONGEST:,} characters.")
    dialect = DIALECTS[kind]
    try:
        trees = [tree for tree in sqlglot.parse(sql, dialect=dialect) if tree is not None]
    except (SqlglotError, RecursionError) as problem:
        said = str(problem).partition("\n")[0][:200]
        raise Invalid(f"This is not SQL as {kind} has it: {said}", code="not-sql") from None
    if len(trees) != 1 or not isinstance(trees[0], _QUERIES):
        raise Denied("Only one SELECT may be asked of a connection.", code="not-a-select")
    tree = trees[0]
    for node in tree.walk():
        _refuse(node)
    # Comments are left out: to MySQL some of them are statements.
    return _limited(tree, most).sql(dialect=dialect, comments=False)


def _refuse(node: exp.Expr) -> None:
    if isinstance(node, _REFUSED) and not isinstance(node, _FINE):
        raise Denied(
            f"A question to a connection may not hold {node.key.upper()}; it reads and changes nothing.",
            code="not-a-select",
        )
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        name = node.name.lower()
        if name not in _FUNCTIONS:
            raise Denied(
                f"The function {name[:80]!r} is not among those that a connection may be asked with.",
                code="function-not-allowed",
            )
    if isinstance(node, exp.Table) and (
        node.name.lower() in _CLOSED_TABLES or node.db.lower() in _CLOSED_SCHEMAS
    ):
        raise Denied(f"The table {node.name!r} holds credentials and is not read.", code="closed")


def _limited(tree: exp.Expression, most: int) -> exp.Expression:
    """At most so many rows, in the order that was asked for."""
    limit = tree.args.get("limit")
    if limit is None and isinstance(tree, exp.Query) and tree.args.get("fetch") is None:
        return tree.limit(most)
    said = limit.expression if isinstance(limit, exp.Limit) else None
    if isinstance(said, exp.Literal) and not said.is_string and int(said.this) <= most:
        return tree
    return (
        exp.select("*").from_(exp.Subquery(this=tree, alias=exp.to_identifier("asked"))).limit(most)
    )
