"""Statements for the SQL guard: hostile ones, and honest ones with everything analysts write."""

from itertools import product

from steward.sandbox.words import words

SCHEMA = {
    "orders": ["id", "customer", "amount", "day", "tags", "Größe"],
    "customers": ["id", "name", "country"],
}

_STATEMENTS = """
COPY orders TO '/tmp/x.csv'
COPY (SELECT * FROM orders) TO 'x.parquet' (FORMAT parquet)
COPY orders FROM '/etc/passwd'
EXPORT DATABASE '/tmp/x'
IMPORT DATABASE '/tmp/x'
ATTACH '/tmp/x.db'
ATTACH 'postgres:host=x' AS p (TYPE postgres)
DETACH memory
USE memory
INSTALL httpfs
LOAD httpfs
FORCE INSTALL httpfs FROM 'http://example.org'
UPDATE EXTENSIONS
SET memory_limit = '100GB'
SET lock_configuration = false
SET VARIABLE x = 1
RESET memory_limit
PRAGMA version
PRAGMA database_list
PRAGMA enable_profiling
PRAGMA table_info('orders')
CALL pragma_version()
CALL duckdb_settings()
CHECKPOINT
FORCE CHECKPOINT
VACUUM
ANALYZE
CREATE TABLE x AS SELECT 1
CREATE TEMP TABLE x (a INT)
CREATE VIEW v AS SELECT 1
CREATE MACRO f(a) AS a
CREATE SECRET s (TYPE s3)
CREATE SCHEMA s
CREATE SEQUENCE s
CREATE TYPE t AS ENUM ('a')
CREATE INDEX i ON orders (id)
DROP TABLE orders
DROP VIEW orders
ALTER TABLE orders ADD COLUMN x INT
INSERT INTO orders VALUES (1)
INSERT INTO orders SELECT * FROM orders
UPDATE orders SET id = 1
DELETE FROM orders
TRUNCATE orders
MERGE INTO orders USING customers ON true WHEN MATCHED THEN DELETE
BEGIN
COMMIT
ROLLBACK
PREPARE p AS SELECT 1
EXECUTE p
DEALLOCATE p
EXPLAIN SELECT 1
EXPLAIN ANALYZE SELECT * FROM orders
EXPLAIN ANALYZE COPY orders TO 'x'
DESCRIBE orders
DESCRIBE SELECT 1
SUMMARIZE orders
SHOW TABLES
SHOW ALL TABLES
SHOW orders
SHOW DATABASES
COMMENT ON TABLE orders IS 'x'
PIVOT orders ON getenv('HOME') || day USING sum(amount)
PIVOT missing ON day USING sum(amount)
PIVOT read_csv('/etc/passwd') ON day USING sum(amount)
PIVOT (FROM read_text('/etc/passwd')) ON content USING count(*)
PIVOT orders ON day USING getvariable('x')
PIVOT orders ON day USING sum(amount) GROUP BY current_setting('threads')
PIVOT orders ON (SELECT content FROM read_text('/etc/passwd')) USING count(*)
WITH x AS (FROM glob('*')) PIVOT x ON file USING count(*)
PIVOT orders ON day USING sum(amount); DROP TABLE orders
PIVOT orders ON day IN (SELECT 1); COPY orders TO 'x'
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r
WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT n + 1 FROM r) SELECT count(*) FROM r
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE true) SELECT * FROM r
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE 1 = 1) SELECT * FROM r
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT sum(n) FROM r LIMIT 5
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r ORDER BY n LIMIT 5
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r WHERE n < 0 LIMIT 5
SELECT * FROM (WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n FROM r, customers) SELECT * FROM r)
SELECT count(*) FROM range(100000000000)
SELECT count(*) FROM range(1e11::BIGINT)
SELECT count(*) FROM range(100000 * 100000 * 100)
SELECT count(*) FROM range(-100000000000, 0)
SELECT count(*) FROM generate_series(1, 10 ** 11)
SELECT count(*) FROM generate_series(0, 1000000000000, 10)
SELECT count(*) FROM range(100000000000, 0, -1)
SELECT count(*) FROM repeat(1, 100000000000)
SELECT count(*) FROM repeat_row(1, num_rows = 100000000000)
SELECT len(range(100000000000))
SELECT unnest(generate_series(1, 100000000))
SELECT * FROM unnest(range(100000000))
SELECT repeat('x', 10000000000)
SELECT repeat(customer, 1e10::BIGINT) FROM orders
SELECT rpad('x', 2000000000, 'y') || lpad('x', 2000000000, 'y')
SELECT list_resize([1], 2000000000)
SELECT 1; SELECT 2
SELECT 1; DROP TABLE orders
SELECT 1; COPY orders TO 'x'
; ; SELECT 1; SELECT 2
SELECT 1 INTO x
SELECT $1
SELECT ?
SELECT $name
SELECT * FROM orders AT (VERSION => 1)
SELECT * FROM orders AT (TIMESTAMP => now())
WITH x AS (INSERT INTO orders VALUES (1) RETURNING *) SELECT * FROM x
WITH x AS (DELETE FROM orders RETURNING *) SELECT * FROM x
WITH x AS (UPDATE orders SET id = 1 RETURNING *) SELECT * FROM x
WITH x AS (COPY orders TO 'f') SELECT 1
WITH x AS MATERIALIZED (COPY (SELECT 1) TO 'f') SELECT * FROM x
SELECT * FROM missing
SELECT * FROM other.orders
SELECT * FROM memory.main.orders
SELECT * FROM system.main.duckdb_tables
SELECT * FROM temp.orders
SELECT * FROM information_schema.tables
SELECT * FROM pg_catalog.pg_class
SELECT * FROM sqlite_master
SELECT * FROM duckdb_settings
SELECT * FROM orders, missing
SELECT * FROM orders JOIN missing USING (id)
SELECT (SELECT max(id) FROM missing)
SELECT * FROM orders WHERE id IN (SELECT id FROM missing)
SELECT * FROM orders WHERE EXISTS (FROM missing)
WITH a AS (SELECT * FROM missing) SELECT 1
WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a
SELECT * FROM (WITH inner_one AS (SELECT 1) SELECT * FROM inner_one), inner_one
SELECT 1 UNION ALL SELECT * FROM missing
SELECT 1 EXCEPT (SELECT id FROM missing)
SELEC 1
SELECT
SELECT FROM WHERE
SELECT 'unterminated
SELECT 1 +
SELECT * FROM orders WHERE
SELECT * FROM 'http://example.org/x.csv'
SELECT * FROM "/etc/passwd"
SELECT * FROM 's3://bucket/x.parquet'
FROM 'orders.csv'
SELECT * FROM '*.parquet'
SELECT DEFAULT
SELECT nextval('s')
SELECT currval('s')
SELECT current_setting('memory_limit')
SELECT getvariable('x')
SELECT getenv('HOME')
SELECT write_log('x')
SELECT setseed(0.5)
SELECT pg_sleep(10)
SELECT sleep_ms(1000)
SELECT json_serialize_sql('SELECT 1')
SELECT json_deserialize_sql('{}')
SELECT json_serialize_plan('SELECT 1')
SELECT current_query()
SELECT current_user
SELECT current_database()
SELECT version()
SELECT txid_current()
SELECT pg_get_viewdef(1)
SELECT has_table_privilege('orders', 'select')
SELECT inet_server_addr()
SELECT system.main.getvariable('x')
SELECT other.lower('x')
SELECT nothing_like_this(1)
SELECT list_transform([1], lambda x: getvariable('y'))
SELECT max(id) FILTER (WHERE nextval('s') > 0) FROM orders
SELECT sum(id) OVER (ORDER BY nextval('s')) FROM orders
SELECT * FROM orders ORDER BY pg_sleep(1)
SELECT * FROM orders LIMIT (SELECT nextval('s'))
SELECT * FROM orders GROUP BY getvariable('x')
SELECT CASE WHEN true THEN current_setting('x') END
SELECT COLUMNS(c -> getvariable(c) = 'x') FROM orders
SELECT * REPLACE (getvariable('x') AS id) FROM orders
SELECT * FROM (VALUES (getvariable('x'))) v(a)
SELECT * FROM range(getvariable('x'))
SELECT * FROM orders TABLESAMPLE 10% REPEATABLE (1), missing
SELECT 'x'.getvariable()
SELECT id.current_setting() FROM orders
VALUES (getvariable('x'))
TABLE missing
FROM missing SELECT 1
"""
_TABLE_FUNCTIONS = words("""
read_csv read_csv_auto read_parquet parquet_scan read_json read_json_auto read_json_objects
read_ndjson read_ndjson_auto read_text read_blob read_duckdb sniff_csv glob parquet_metadata
parquet_schema parquet_file_metadata parquet_kv_metadata query query_table seq_scan arrow_scan
pandas_scan python_map_function duckdb_settings duckdb_secrets duckdb_tables duckdb_columns
duckdb_functions duckdb_extensions duckdb_views duckdb_databases duckdb_memory
duckdb_temporary_files duckdb_variables duckdb_logs pragma_version pragma_table_info
pragma_storage_info pragma_database_size json_execute_serialized_sql checkpoint force_checkpoint
which_secret test_all_types summary enable_logging enable_profiling sqlite_scan postgres_scan
mysql_scan iceberg_scan delta_scan
""")
_FRAMES = (
    "SELECT * FROM {f}('x')",
    "FROM {f}('x')",
    "SELECT * FROM orders, {f}('x') AS t",
    "WITH a AS (SELECT * FROM {f}('x')) SELECT * FROM a",
)

HOSTILE = [
    *[line for line in _STATEMENTS.strip().splitlines() if line],
    *[frame.format(f=name) for name, frame in product(_TABLE_FUNCTIONS, _FRAMES)],
]

_SELECTED = """
*
id, customer
count(*)
count(DISTINCT customer)
sum(amount) AS total, avg(amount), median(amount)
sum(amount) FILTER (WHERE id > 3)
quantile_cont(amount, [0.25, 0.5, 0.75])
id, row_number() OVER (PARTITION BY customer ORDER BY day DESC)
id, sum(amount) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW)
id, lag(amount, 1, 0) OVER (PARTITION BY customer ORDER BY day)
CASE WHEN amount > 10 THEN 'large' WHEN amount > 5 THEN 'medium' ELSE 'small' END AS size
date_trunc('month', day) AS month, extract(year FROM day), day + INTERVAL 1 MONTH
strftime(day, '%Y-%m'), dayname(day), date_diff('day', day, DATE '2026-01-01')
CAST(amount AS DECIMAL(18, 2)), amount::INTEGER, TRY_CAST(customer AS BIGINT)
list_transform(tags, lambda t: upper(t))
list_filter([1, 2, 3], lambda x: x > 1), list_reduce([1, 2], lambda a, b: a + b)
[x * 2 FOR x IN [1, 2, 3] IF x > 1]
{'id': id, 'amount': amount} AS record
struct_pack(a := id, b := amount)
MAP {'a': 1}['a'], [1, 2, 3][1:2]
unnest(tags)
"Größe", "Größe" * 2 AS "Fläche"
'naïve — 日本語' AS "列"
* EXCLUDE (tags)
* REPLACE (amount * 2 AS amount)
COLUMNS('a.*')
coalesce(customer, 'none'), nullif(amount, 0), ifnull(amount, 0)
concat_ws('-', id, customer), customer || '!', lower(customer), substring(customer, 1, 3)
regexp_matches(customer, '^A'), regexp_replace(customer, '[0-9]+', '#'), customer LIKE 'A%'
greatest(id, amount), least(id, 5), round(amount, 1), abs(amount), amount % 3, 7 // 2, 2 ** 3
string_agg(customer, ', ' ORDER BY id), list(id ORDER BY id DESC)
arg_max(customer, amount), min_by(customer, amount), mode(customer)
approx_count_distinct(customer), stddev(amount), corr(id, amount), regr_slope(id, amount)
EXISTS (SELECT 1 FROM customers c WHERE c.id = orders.id)
(SELECT max(id) FROM customers), id IN (SELECT id FROM customers)
json_extract('{"a": 1}', '$.a'), '{"a": 1}'::JSON ->> 'a'
md5(customer), hash(id), sha256(customer)
id IS DISTINCT FROM 3, NOT (id = 1 OR id = 2), id BETWEEN 1 AND 5, customer ILIKE '%a%'
""".strip().splitlines()
_SHAPES = (
    "SELECT {s} FROM orders",
    "SELECT {s} FROM orders LIMIT 10",
    "SELECT {s} FROM main.orders",
    "select {s}\nfrom ORDERS\n",
    "WITH recent AS (SELECT * FROM orders WHERE day > DATE '2026-01-01') SELECT 1 FROM recent",
    "SELECT * FROM (SELECT {s} FROM orders) AS inner_query",
    "/* a remark */ SELECT {s} FROM orders -- the end",
    "SELECT {s} FROM orders;",
)
_WHOLE = """
SELECT * FROM orders o JOIN customers c ON o.customer = c.id
SELECT * FROM orders LEFT JOIN customers USING (id)
SELECT * FROM orders o, customers c WHERE o.customer = c.id
SELECT * FROM orders SEMI JOIN customers USING (id)
SELECT * FROM orders ANTI JOIN customers USING (id)
SELECT * FROM orders ASOF JOIN customers ON orders.id >= customers.id
SELECT * FROM orders POSITIONAL JOIN customers
SELECT * FROM orders CROSS JOIN customers
SELECT * FROM orders NATURAL JOIN customers
SELECT * FROM orders, LATERAL (SELECT orders.id + 1 AS n) x
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r
WITH orders AS (SELECT * FROM orders WHERE id > 1) SELECT * FROM orders
WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT * FROM a, b
WITH a AS MATERIALIZED (SELECT 1 AS x) SELECT * FROM a
SELECT id FROM orders UNION SELECT id FROM customers
SELECT id FROM orders UNION ALL BY NAME SELECT id FROM customers
SELECT id FROM orders INTERSECT SELECT id FROM customers
SELECT id FROM orders EXCEPT SELECT id FROM customers
FROM orders
FROM orders SELECT id WHERE id > 2
FROM orders SELECT customer, count(*) GROUP BY ALL ORDER BY ALL
SELECT customer, count(*) FROM orders GROUP BY customer HAVING count(*) > 2 ORDER BY 2 DESC NULLS LAST
SELECT customer, day, sum(amount) FROM orders GROUP BY ROLLUP (customer, day)
SELECT customer, day, grouping(day) FROM orders GROUP BY CUBE (customer, day)
SELECT customer FROM orders GROUP BY GROUPING SETS ((customer), ())
SELECT DISTINCT customer FROM orders
SELECT DISTINCT ON (customer) * FROM orders ORDER BY customer, day
SELECT * FROM orders QUALIFY row_number() OVER (PARTITION BY customer ORDER BY day) = 1
SELECT * FROM (PIVOT orders ON customer IN ('a', 'b') USING sum(amount) GROUP BY day)
PIVOT orders ON customer IN ('a', 'b') USING sum(amount) AS s, count(*) AS n GROUP BY day
SELECT * FROM orders PIVOT (sum(amount) FOR customer IN ('a', 'b') GROUP BY day)
PIVOT orders ON day USING sum(amount)
PIVOT orders ON customer
PIVOT_WIDER orders ON customer USING count(*)
PIVOT orders ON customer USING sum(amount) GROUP BY day
PIVOT orders ON customer USING sum(amount) GROUP BY day ORDER BY day LIMIT 3
PIVOT orders ON customer, day USING sum(amount) AS s, count(*) AS n GROUP BY id
PIVOT orders ON customer || '/' || day USING sum(amount) GROUP BY id
PIVOT orders ON "Größe" % 2 USING sum(amount) GROUP BY customer
SELECT 'PIVOT t ON x' AS "pivot", customer FROM orders
PIVOT orders ON id % 12 USING sum(amount) GROUP BY customer
PIVOT orders ON customer IN ('A1'), day USING sum(amount)
PIVOT (SELECT * FROM orders WHERE id > 3) ON customer USING sum(amount) GROUP BY day
SELECT * FROM (PIVOT orders ON day USING sum(amount))
WITH p AS (PIVOT orders ON customer USING sum(amount) GROUP BY day) SELECT day, A1 FROM p
WITH x AS (FROM orders WHERE id > 3) PIVOT x ON customer USING sum(amount) GROUP BY day
PIVOT (PIVOT orders ON customer USING sum(amount) GROUP BY day) ON day USING sum(A1)
PIVOT (SELECT o.*, c.country FROM orders o JOIN customers c ON o.id = c.id) ON country USING count(*)
UNPIVOT orders ON id, amount INTO NAME n VALUE v
SELECT * FROM orders UNPIVOT (v FOR n IN (id, amount))
SELECT * FROM orders USING SAMPLE 10%
SELECT * FROM orders TABLESAMPLE reservoir(10 ROWS)
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r LIMIT 5
WITH RECURSIVE r AS (SELECT id FROM orders WHERE id = 1 UNION ALL SELECT o.id FROM orders o JOIN r ON o.id = r.id + 1) SELECT count(*) FROM r
WITH RECURSIVE r AS (SELECT id FROM customers UNION SELECT id FROM r JOIN orders USING (id)) SELECT * FROM r
SELECT count(*) FROM range(100000)
SELECT count(*) FROM range(DATE '2026-01-01', DATE '2026-03-01', INTERVAL 1 DAY)
SELECT len(repeat('x', 1000)), len(range(-5, 5)), rpad('x', 9, 'y')
SELECT * FROM range(10, 0, -3) r(i)
SELECT * FROM range(10) r(i)
SELECT * FROM generate_series(1, 10, 2) g(i)
SELECT * FROM unnest([1, 2, 3]) u(x)
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v(n, t)
VALUES (1), (2)
TABLE orders
SELECT 1
SELECT current_date, now(), pi(), random(), uuid()
SELECT * FROM orders WHERE (id, amount) IN ((1, 2), (3, 4))
SELECT * FROM orders ORDER BY amount DESC LIMIT 5 OFFSET 5
SELECT * FROM orders LIMIT 10%
SELECT o FROM orders o
SELECT id, amount - avg(amount) OVER w FROM orders WINDOW w AS (PARTITION BY customer)
SELECT #1 FROM orders
SELECT customer COLLATE NOCASE FROM orders
SELECT a.customer FROM orders a JOIN orders b ON a.id = b.id
""".strip().splitlines()

HONEST = [
    *_WHOLE,
    *[shape.format(s=selected) for shape, selected in product(_SHAPES, _SELECTED)],
]
