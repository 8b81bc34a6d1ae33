/**
 * Wrong statements and what is said of them, word for word: one line, the place in the statement where it is known, no names of the engine
 * and none of ours.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SqlError, StateQueryError } from '../../src/errors.js';
import { type Database, openDatabase } from '../../src/sql/engine.js';
import { type OpenedSnapshot, openSnapshot } from '../../src/tables/snapshot.js';
import { fixture } from '../tables/support.js';

const DUCKDB: readonly (readonly [sql: string, code: string, message: string])[] = [
  ['SELEC 1', 'SQL_SYNTAX', 'line 1, column 1: syntax error at or near "SELEC"'],
  ['SELECT FROM', 'SQL_SYNTAX', 'line 1, column 12: syntax error at end of input'],
  ['SELECT * FORM keyed_state', 'SQL_SYNTAX', 'line 1, column 15: syntax error at or near "keyed_state"'],
  ['SELECT key FROM keyed_state WHERE', 'SQL_SYNTAX', 'line 1, column 34: syntax error at end of input'],
  ['SELECT (1', 'SQL_SYNTAX', 'line 1, column 10: syntax error at end of input'],
  ["SELECT 'abc", 'SQL_SYNTAX', `line 1, column 8: unterminated quoted string at or near "'abc"`],
  ['SELECT "abc FROM keyed_state', 'SQL_SYNTAX', 'line 1, column 8: unterminated quoted identifier at or near ""abc FROM keyed_state"'],
  ["SELECT E'\\u200bx'", 'SQL_SYNTAX', "line 1, column 10: \\u is not read in E'…'"],
  ['SELECT 1 +', 'SQL_SYNTAX', 'line 1, column 11: syntax error at end of input'],
  ['SELECT 1,,2', 'SQL_SYNTAX', 'line 1, column 10: syntax error at or near ","'],
  ['SELECT * FROM keyed_state LIMIT x', 'UNKNOWN_COLUMN', 'line 1, column 33: there is no column "x"'],
  ['SELECT * FROM keyed_state LIMIT -1', 'SQL_ERROR', 'line 1, column 33: LIMIT/OFFSET cannot be negative'],
  ["SELECT * FROM keyed_state LIMIT 'a'", 'SQL_ERROR', "line 1, column 33: Could not convert string 'a' to BIGINT"],
  ['SELECT * FROM keyed_state OFFSET -1', 'SQL_ERROR', 'line 1, column 34: LIMIT/OFFSET cannot be negative'],
  ['SELECT * FROM keyed_state ORDER BY 99', 'SQL_ERROR', 'line 1, column 36: ORDER term out of range - should be between 1 and 15'],
  ['SELECT key FROM keyed_state GROUP BY 5', 'SQL_ERROR', 'GROUP BY term out of range - should be between 1 and 1'],
  ['SELECT sum(value) FROM keyed_state', 'REFUSED', 'line 1, column 12: sum() on value, which has several types here'],
  ['SELECT sum(state_name) FROM keyed_state', 'SQL_ERROR', 'line 1, column 8: sum() does not take (VARCHAR)'],
  ['SELECT avg(state_name) FROM keyed_state', 'SQL_ERROR', 'line 1, column 8: avg() does not take (VARCHAR)'],
  ['SELECT nofunc(1)', 'REFUSED', 'line 1, column 8: the function nofunc does not exist or is refused'],
  ["SELECT uper('a')", 'REFUSED', 'line 1, column 8: the function uper does not exist or is refused'],
  ['SELECT length()', 'SQL_ERROR', 'line 1, column 8: length() needs arguments'],
  ['SELECT length(1,2,3)', 'SQL_ERROR', 'line 1, column 8: length() does not take (INTEGER, INTEGER, INTEGER)'],
  ['SELECT substr(1)', 'SQL_ERROR', 'line 1, column 8: substr() does not take (INTEGER)'],
  [
    'SELECT count(DISTINCT *) FROM keyed_state',
    'SQL_ERROR',
    'STAR expression is only allowed as the root element of an expression. Use COLUMNS(*) instead.',
  ],
  [
    'SELECT state_name, count(*) FROM keyed_state',
    'SQL_ERROR',
    'line 1, column 8: column "state_name" must appear in the GROUP BY clause or must be part of an aggregate function.',
  ],
  [
    'SELECT state_name FROM keyed_state HAVING key_group > 1',
    'SQL_ERROR',
    'line 1, column 43: column key_group must appear in the GROUP BY clause or be used in an aggregate function',
  ],
  ['SELECT count(*) FROM keyed_state WHERE count(*) > 1', 'SQL_ERROR', 'line 1, column 40: WHERE clause cannot contain aggregates'],
  ['SELECT sum(sum(key_group)) FROM keyed_state', 'SQL_ERROR', 'line 1, column 12: aggregate function calls cannot be nested'],
  ['SELECT row_number() FROM keyed_state', 'SQL_ERROR', 'line 1, column 8: row_number is a window function'],
  [
    'SELECT key FROM keyed_state WHERE row_number() OVER () = 1',
    'SQL_ERROR',
    'line 1, column 35: WHERE clause cannot contain window functions',
  ],
  ["SELECT CAST('x' AS INTEGER)", 'SQL_ERROR', "line 1, column 8: Could not convert string 'x' to INTEGER"],
  [
    'SELECT CAST(state_name AS INTEGER) FROM keyed_state',
    'SQL_ERROR',
    "line 1, column 8: Could not convert string 'kryo-enum' to INTEGER (column state_name)",
  ],
  [
    'SELECT state_name::INT FROM keyed_state',
    'SQL_ERROR',
    "line 1, column 18: Could not convert string 'kryo-enum' to INTEGER (column state_name)",
  ],
  ['SELECT CAST(300 AS TINYINT)', 'VALUE_OUT_OF_RANGE', 'line 1, column 8: 300 is out of the range of TINYINT'],
  ['SELECT 9223372036854775807 + 1', 'VALUE_OUT_OF_RANGE', 'Overflow in addition of BIGINT (9223372036854775807 + 1)'],
  [
    'SELECT key_group + 9223372036854775807 FROM keyed_state',
    'VALUE_OUT_OF_RANGE',
    'Overflow in addition of BIGINT (7 + 9223372036854775807)',
  ],
  ["SELECT CAST('2026-13-01' AS DATE)", 'VALUE_OUT_OF_RANGE', 'line 1, column 8: date field value out of range: "2026-13-01"'],
  ["SELECT DATE '2026-02-30'", 'VALUE_OUT_OF_RANGE', 'date field value out of range: "2026-02-30"'],
  [
    "SELECT TIMESTAMP 'yesterday'",
    'SQL_ERROR',
    'invalid timestamp field format: "yesterday", expected format is (YYYY-MM-DD HH:MM:SS[.US][±HH[:MM[:SS]]| ZONE])',
  ],
  ["SELECT TIMESTAMPTZ '2026-01-31 12:00:00 Nowhere/City'", 'SQL_ERROR', "Unknown TimeZone 'Nowhere/City'"],
  ["SELECT INTERVAL 'abc'", 'SQL_ERROR', "line 1, column 17: Could not convert string 'abc' to INTERVAL"],
  ["SELECT '5 parsecs'::INTERVAL", 'SQL_ERROR', 'line 1, column 19: extract specifier "parsecs" not recognized'],
  ["SELECT UUID 'x'", 'SQL_ERROR', "Could not convert string 'x' to UUID"],
  ["SELECT unhex('zz')", 'SQL_ERROR', 'Invalid input for hex digit: z'],
  ["SELECT '{'::JSON", 'SQL_ERROR', 'line 1, column 11: Malformed JSON at byte 1 of input: unexpected end of data.  Input: "{"'],
  ["SELECT json_extract('{', '$.a')", 'SQL_ERROR', 'Malformed JSON at byte 1 of input: unexpected end of data.  Input: "{"'],
  ["SELECT json_extract('{}', '$.[')", 'SQL_ERROR', "JSON path error near '.['"],
  ["SELECT json_extract('{}'::JSON, '$$')", 'SQL_ERROR', "JSON path error near '$'"],
  ["SELECT key->'$[' FROM keyed_state", 'SQL_ERROR', "JSON path error near '['"],
  ['SELECT CAST(1 AS FOO)', 'SQL_ERROR', 'Type with name FOO does not exist'],
  ['SELECT CAST(1 AS DECIMAL(50,2))', 'SQL_ERROR', 'DECIMAL type width must be between 1 and 38'],
  ['SELECT CAST(1 AS DECIMAL(2,5))', 'SQL_ERROR', 'DECIMAL type scale cannot be greater than width'],
  ['SELECT sqrt(-1)', 'VALUE_OUT_OF_RANGE', 'cannot take square root of a negative number'],
  ['SELECT ln(0)', 'VALUE_OUT_OF_RANGE', 'cannot take logarithm of zero'],
  ['SELECT factorial(1000)', 'VALUE_OUT_OF_RANGE', 'Value out of range'],
  ['SELECT chr(-1)', 'SQL_ERROR', 'Invalid UTF8 Codepoint -1'],
  ["SELECT regexp_matches('a', '(')", 'SQL_ERROR', 'the regular expression ( cannot be read: missing )'],
  ["SELECT regexp_replace('a', '[', 'b')", 'SQL_ERROR', 'the regular expression [ cannot be read: missing ]'],
  ["SELECT 'a' LIKE 'b' ESCAPE 'cc'", 'SQL_SYNTAX', 'Invalid escape string. Escape string must be empty or one character.'],
  ["SELECT 'a' SIMILAR TO '('", 'SQL_ERROR', 'the regular expression ( cannot be read: missing )'],
  ["SELECT strptime('a', '%Q')", 'SQL_ERROR', 'Failed to parse format specifier %Q: Unrecognized format for strftime/strptime: %Q'],
  ["SELECT strptime('a', '%Y')", 'SQL_ERROR', 'Could not parse string "a" according to format specifier "%Y"'],
  ["SELECT strftime(5, '%Y')", 'SQL_ERROR', 'line 1, column 8: strftime() does not take (INTEGER, VARCHAR)'],
  ["SELECT date_trunc('foo', DATE '2026-01-01')", 'SQL_ERROR', 'extract specifier "foo" not recognized'],
  ["SELECT date_part('foo', DATE '2026-01-01')", 'SQL_ERROR', 'extract specifier "foo" not recognized'],
  ["SELECT extract(foo FROM DATE '2026-01-01')", 'SQL_ERROR', 'extract specifier "foo" not recognized'],
  ["SELECT DATE '2026-01-01' + 'x'", 'SQL_ERROR', 'line 1, column 26: + is not defined for (DATE, VARCHAR)'],
  ["SELECT DATE '290000-01-01' + INTERVAL 1000000 YEAR", 'VALUE_OUT_OF_RANGE', 'line 1, column 39: Date and time not in timestamp range'],
  ["SELECT 'a' + 1", 'SQL_ERROR', 'line 1, column 12: + is not defined for (VARCHAR, INTEGER)'],
  ["SELECT 'a' * 'b'", 'SQL_ERROR', 'line 1, column 12: * is not defined for (VARCHAR, VARCHAR)'],
  ['SELECT [1,2] + 1', 'SQL_ERROR', 'line 1, column 14: + is not defined for (INTEGER[], INTEGER)'],
  ["SELECT {'a':1} + 1", 'SQL_ERROR', 'line 1, column 16: + is not defined for (STRUCT(a INTEGER), INTEGER)'],
  ["SELECT {'a':1}.b", 'UNKNOWN_COLUMN', 'line 1, column 9: there is no field "b" in the value'],
  ["SELECT [1, 'a']", 'SQL_ERROR', "line 1, column 12: Could not convert string 'a' to INTEGER"],
  ["SELECT MAP {'a':1, 'a':2}", 'SQL_ERROR', 'Map keys must be unique.'],
  ['SELECT MAP {NULL:1}', 'SQL_ERROR', 'Map keys can not be NULL.'],
  ["SELECT [1,2]['a']", 'SQL_ERROR', "line 1, column 14: Could not convert string 'a' to BIGINT"],
  ['SELECT list_extract(1, 2)', 'SQL_ERROR', 'line 1, column 8: list_extract() does not take (INTEGER, INTEGER)'],
  ['SELECT unnest(1)', 'SQL_ERROR', 'line 1, column 8: UNNEST() can only be applied to lists, structs and NULL, not INTEGER'],
  [
    'SELECT unnest(unnest([[1]]))',
    'SQL_ERROR',
    'line 1, column 15: Nested UNNEST calls are not supported - use UNNEST(x, recursive := true) to unnest multiple levels',
  ],
  ['SELECT list_transform([1], 5)', 'SQL_ERROR', 'line 1, column 8: list_transform() does not take (INTEGER[], INTEGER)'],
  ['SELECT list_transform([1], x -> y)', 'UNKNOWN_COLUMN', 'line 1, column 33: there is no column "y"'],
  ['SELECT list_transform([1], (a,b,c) -> a)', 'SQL_ERROR', 'This lambda function only supports up to two lambda parameters'],
  ["SELECT list_aggregate([1], 'nofunc')", 'SQL_ERROR', 'Aggregate Function with name nofunc does not exist'],
  ['SELECT struct_pack()', 'SQL_ERROR', "Can't pack nothing into a struct"],
  [
    "SELECT struct_extract({'a':1}, 5)",
    'SQL_ERROR',
    'struct_extract with an integer key can only be used on unnamed structs, use a string key instead',
  ],
  ['SELECT coalesce()', 'SQL_SYNTAX', 'line 1, column 17: syntax error at or near ")"'],
  ["SELECT CASE WHEN 1 THEN 'a' ELSE 5 END", 'SQL_ERROR', "line 1, column 25: Could not convert string 'a' to INTEGER"],
  ["SELECT CASE WHEN 'x' THEN 1 END", 'SQL_ERROR', "line 1, column 18: Could not convert string 'x' to BOOLEAN"],
  ["SELECT 1 WHERE 'x'", 'SQL_ERROR', "line 1, column 16: Could not convert string 'x' to BOOLEAN"],
  ["SELECT NOT 'x'", 'SQL_ERROR', "line 1, column 12: Could not convert string 'x' to BOOLEAN"],
  [
    'SELECT key FROM keyed_state WHERE state_name',
    'SQL_ERROR',
    "line 1, column 35: Could not convert string 'kryo-enum' to BOOLEAN (column state_name)",
  ],
  ['SELECT 1 UNION SELECT 1, 2', 'SQL_ERROR', 'Set operations can only apply to expressions with the same number of result columns'],
  [
    'SELECT key FROM keyed_state UNION SELECT 1, 2',
    'SQL_ERROR',
    'Set operations can only apply to expressions with the same number of result columns',
  ],
  ["SELECT 1 INTERSECT SELECT DATE '2026-01-01'", 'SQL_ERROR', 'line 1, column 8: INTEGER cannot become DATE (column 1)'],
  ['SELECT * FROM (SELECT 1) t(a, b)', 'SQL_ERROR', 'line 1, column 26: table "t" has 1 columns available but 2 columns specified'],
  ['WITH x AS (SELECT 1), x AS (SELECT 2) SELECT * FROM x', 'SQL_SYNTAX', 'Duplicate CTE name "x"'],
  ['WITH x AS (SELECT * FROM y) SELECT * FROM x', 'UNKNOWN_TABLE', 'line 1, column 26: there is no table "y"'],
  [
    'WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1, 2 FROM x) SELECT * FROM x',
    'SQL_ERROR',
    'Set operations can only apply to expressions with the same number of result columns',
  ],
  ['SELECT (SELECT 1, 2)', 'SQL_ERROR', 'line 1, column 8: Subquery returns 2 columns - expected 1'],
  ['SELECT (SELECT key_group FROM keyed_state)', 'SQL_ERROR', 'More than one row returned by a subquery used as an expression'],
  ['SELECT 1 IN (SELECT 1, 2)', 'SQL_ERROR', 'line 1, column 10: Subquery returns 2 columns - expected 1'],
  ['SELECT key FROM keyed_state a JOIN keyed_state b ON a.key = b.key', 'UNKNOWN_COLUMN', 'line 1, column 8: the name "key" is ambiguous'],
  [
    'SELECT * FROM keyed_state a JOIN keyed_state b USING (nocol)',
    'UNKNOWN_COLUMN',
    'line 1, column 29: USING (nocol): the left side has no such column',
  ],
  [
    'SELECT * FROM keyed_state a NATURAL JOIN (SELECT 1 AS zzz) b',
    'SQL_ERROR',
    'line 1, column 29: NATURAL JOIN of tables without a common column',
  ],
  ['SELECT * FROM keyed_state a ASOF JOIN keyed_state b ON a.key = b.key', 'SQL_ERROR', 'Missing ASOF JOIN inequality'],
  [
    'SELECT * FROM keyed_state a LEFT JOIN LATERAL (SELECT a.nocol) ON true',
    'UNKNOWN_COLUMN',
    'line 1, column 55: there is no column "nocol" of a',
  ],
  ['SELECT nocol FROM keyed_state', 'UNKNOWN_COLUMN', 'line 1, column 8: there is no column "nocol"'],
  ['SELECT keyed_state.nocol FROM keyed_state', 'UNKNOWN_COLUMN', 'line 1, column 8: there is no column "nocol" of keyed_state'],
  ['SELECT x.key FROM keyed_state', 'UNKNOWN_COLUMN', 'line 1, column 8: there is no column "x"'],
  ['SELECT a.b.c.d.e FROM keyed_state', 'UNKNOWN_COLUMN', 'line 1, column 8: there is no column "a"'],
  ['SELECT ky FROM keyed_state', 'UNKNOWN_COLUMN', 'line 1, column 8: there is no column "ky"'],
  ['SELECT * FROM keyd_state', 'UNKNOWN_TABLE', 'line 1, column 15: there is no table "keyd_state"'],
  ['SELECT * FROM nosnap.keyed_state', 'UNKNOWN_TABLE', 'line 1, column 15: there is no snapshot "nosnap"'],
  ['SELECT * FROM a.b.c', 'UNKNOWN_TABLE', 'line 1, column 15: there is no table "a.b.c"'],
  ["SELECT * FROM 'file.csv'", 'REFUSED', 'line 1, column 15: "file.csv" looks like a file; files are not read by SQL, so it is refused'],
  ["SELECT * FROM read_csv('x')", 'REFUSED', 'line 1, column 15: the table function read_csv is refused'],
  [
    'SELECT * EXCLUDE (nocol) FROM keyed_state',
    'UNKNOWN_COLUMN',
    'line 1, column 8: there is no column "nocol" to exclude, replace or rename',
  ],
  [
    'SELECT * REPLACE (1 AS nocol) FROM keyed_state',
    'UNKNOWN_COLUMN',
    'line 1, column 8: there is no column "nocol" to exclude, replace or rename',
  ],
  ["SELECT COLUMNS('nocol') FROM keyed_state", 'SQL_ERROR', 'line 1, column 8: No matching columns found that match regex "nocol"'],
  ["SELECT COLUMNS('[') FROM keyed_state", 'SQL_ERROR', 'line 1, column 8: Failed to compile regex "[": missing ]: ['],
  ['SELECT DISTINCT ON (nocol) key FROM keyed_state', 'UNKNOWN_COLUMN', 'line 1, column 21: there is no column "nocol"'],
  ['SELECT key FROM keyed_state ORDER BY nocol', 'UNKNOWN_COLUMN', 'line 1, column 38: there is no column "nocol"'],
  ['SELECT key FROM keyed_state GROUP BY nocol', 'UNKNOWN_COLUMN', 'line 1, column 38: there is no column "nocol"'],
  ['SELECT value FROM keyed_state ORDER BY value', 'REFUSED', 'line 1, column 40: ORDER BY on value, which has several types here'],
  ['SELECT max(value) FROM keyed_state', 'REFUSED', 'line 1, column 12: max() on value, which has several types here'],
  [
    "SELECT 1 FROM keyed_state WHERE state_name = 'pojo' AND value = [1,2]",
    'SQL_ERROR',
    'line 1, column 57: STRUCT(id BIGINT, "inner" STRUCT(a SMALLINT, b VARCHAR), "name" VARCHAR, opt INTEGER, ratio DOUBLE) cannot become INTEGER[] (column value)',
  ],
  [
    "SELECT 1 FROM keyed_state WHERE state_name = 'pojo' AND value = key",
    'SQL_ERROR',
    'line 1, column 65: INTEGER cannot become STRUCT(id BIGINT, "inner" STRUCT(a SMALLINT, b VARCHAR), "name" VARCHAR, opt INTEGER, ratio DOUBLE) (column key)',
  ],
  ["SELECT 1 FROM keyed_state WHERE value = {'a':1}", 'REFUSED', 'line 1, column 39: comparing a column of several types with a STRUCT'],
  [
    "SELECT value + 1 FROM keyed_state WHERE state_name = 'pojo'",
    'SQL_ERROR',
    'line 1, column 14: + is not defined for (STRUCT(id BIGINT, "inner" STRUCT(a SMALLINT, b VARCHAR), "name" VARCHAR, opt INTEGER, ratio DOUBLE), INTEGER)',
  ],
  ['SELECT ttl_last_access + 1 FROM keyed_state', 'SQL_ERROR', 'line 1, column 24: + is not defined for (TIMESTAMPTZ, INTEGER)'],
  ['SELECT ttl_expires_at + INTERVAL 300000000 YEAR FROM keyed_state', 'VALUE_OUT_OF_RANGE', 'Interval value 300000000 years out of range'],
  ['SELECT sum(value.ratio) FROM keyed_state', 'REFUSED', 'line 1, column 12: sum() on value.ratio, which has several types here'],
  ['SELECT ? + 1', 'SQL_ERROR', 'line 1, column 8: the parameter $1 has no value'],
  ['SELECT $1', 'SQL_ERROR', 'the parameter $1 has no value'],
  ['SELECT $a', 'SQL_ERROR', 'line 1, column 8: the parameter $a has no value'],
  ['SELECT key FROM keyed_state TABLESAMPLE 200%', 'SQL_SYNTAX', 'Sample sample_size 200.000000 out of range, must be between 0 and 100'],
  ['SELECT key FROM keyed_state USING SAMPLE -5', 'SQL_SYNTAX', 'line 1, column 42: syntax error at or near "-"'],
  [
    'PIVOT keyed_state ON key',
    'REFUSED',
    'line 1, column 1: PIVOT is refused: PIVOT is not among the statements; use GROUP BY with FILTER',
  ],
  ['INSERT INTO keyed_state VALUES (1)', 'REFUSED', 'line 1, column 1: INSERT is refused: a snapshot is read-only'],
  [
    'SET threads = 5',
    'REFUSED',
    'line 1, column 1: SET is refused: settings are options of the command line: --threads, --max-memory, --timeout',
  ],
  ['EXPLAIN', 'SQL_SYNTAX', 'line 1, column 8: there is no statement after EXPLAIN'],
  ['EXPLAIN SELECT nocol FROM keyed_state', 'UNKNOWN_COLUMN', 'line 1, column 16: there is no column "nocol"'],
  [
    'EXPLAIN ANALYZE SELECT CAST(state_name AS INT) FROM keyed_state',
    'SQL_ERROR',
    "line 1, column 24: Could not convert string 'kryo-enum' to INTEGER (column state_name)",
  ],
  ['DESCRIBE nocol', 'UNKNOWN_TABLE', 'line 1, column 10: there is no table "nocol"'],
  ['DESCRIBE SELECT nocol FROM keyed_state', 'UNKNOWN_COLUMN', 'line 1, column 17: there is no column "nocol"'],
  ['SUMMARIZE keyd_state', 'UNKNOWN_TABLE', 'line 1, column 11: there is no table "keyd_state"'],
  ['SHOW TABLES FROM nosnap', 'UNKNOWN_TABLE', 'there is no snapshot "nosnap"'],
  ['SHOW nothing', 'UNKNOWN_TABLE', 'line 1, column 6: there is no table "nothing"'],
  ['VALUES (1), (1, 2)', 'SQL_SYNTAX', 'VALUES lists must all be the same length'],
  ["VALUES (1), ('a')", 'SQL_ERROR', "Could not convert string 'a' to INTEGER"],
  ['FROM keyed_state SELECT nocol', 'UNKNOWN_COLUMN', 'line 1, column 25: there is no column "nocol"'],
  ["SELECT * FROM range('a')", 'SQL_ERROR', 'line 1, column 15: range() does not take (VARCHAR)'],
  ['SELECT * FROM range(1, 2, 0)', 'SQL_ERROR', 'interval cannot be 0'],
  ["SELECT * FROM generate_series(1, 'x')", 'SQL_ERROR', 'line 1, column 15: generate_series() does not take (INTEGER, VARCHAR)'],
  ["SELECT * FROM unnest('a')", 'SQL_ERROR', 'line 1, column 15: UNNEST requires a single list as input'],
  ["SELECT * FROM json_each('{')", 'SQL_ERROR', 'Malformed JSON at byte 1 of input: unexpected end of data.  Input: "{"'],
  ["SELECT repeat('a', 10000000000)", 'REFUSED', 'line 1, column 8: repeat of this size is refused'],
  ["SELECT lpad('a', key_group, 'b') FROM keyed_state", 'REFUSED', 'line 1, column 8: lpad with a size that is no constant is refused'],
  ["SELECT error('my message')", 'SQL_ERROR', 'my message'],
  ['SELECT key COLLATE nocoll FROM keyed_state', 'SQL_ERROR', 'line 1, column 8: collations are only supported for type varchar'],
  ["SELECT 'a' COLLATE nocoll", 'SQL_ERROR', 'Collation with name nocoll does not exist'],
  [
    "SELECT lag(key_group, 'x') OVER (ORDER BY key_group) FROM keyed_state",
    'SQL_ERROR',
    "line 1, column 23: Could not convert string 'x' to BIGINT",
  ],
  [
    "SELECT sum(key_group) OVER (ROWS BETWEEN 'a' PRECEDING AND CURRENT ROW) FROM keyed_state",
    'SQL_ERROR',
    "line 1, column 42: Could not convert string 'a' to BIGINT",
  ],
  [
    'SELECT sum(key_group) OVER (RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM keyed_state',
    'SQL_ERROR',
    'line 1, column 8: RANGE frames must have only one ORDER BY expression',
  ],
  ['SELECT sum(key_group) OVER w FROM keyed_state', 'SQL_SYNTAX', 'line 1, column 28: window "w" does not exist'],
  ['SELECT ntile(0) OVER () FROM keyed_state', 'SQL_ERROR', 'Argument for ntile must be greater than zero'],
  ['SELECT quantile_cont(key_group, 2) FROM keyed_state', 'SQL_ERROR', 'QUANTILE can only take parameters in the range [-1, 1]'],
  ['SELECT quantile_cont(key_group, key_group) FROM keyed_state', 'SQL_ERROR', 'QUANTILE can only take constant parameters'],
  [
    'SELECT string_agg(key_group, key_group) FROM keyed_state',
    'SQL_ERROR',
    'line 1, column 8: string_agg() does not take (INTEGER, INTEGER)',
  ],
  ['SELECT arg_max(1) FROM keyed_state', 'SQL_ERROR', 'line 1, column 8: arg_max() does not take (INTEGER)'],
  [
    'SELECT approx_quantile(state_name, 0.5) FROM keyed_state',
    'SQL_ERROR',
    'line 1, column 8: approx_quantile() does not take (VARCHAR, DECIMAL(2,1))',
  ],
  ['SELECT histogram(value) FROM keyed_state', 'REFUSED', 'line 1, column 18: histogram() on value, which has several types here'],
  ["SELECT count(*) FILTER (WHERE 'x') FROM keyed_state", 'SQL_ERROR', "line 1, column 31: Could not convert string 'x' to BOOLEAN"],
  ['SELECT grouping(key) FROM keyed_state', 'SQL_ERROR', 'line 1, column 8: GROUPING statement cannot be used without groups'],
  ['SELECT key FROM keyed_state GROUP BY ALL HAVING nocol = 1', 'UNKNOWN_COLUMN', 'line 1, column 49: there is no column "nocol"'],
  ["SELECT format('{', 1)", 'SQL_ERROR', 'invalid format string'],
  ["SELECT format('{} {}', 1)", 'SQL_ERROR', 'Argument index "1" out of range'],
  ["SELECT printf('%d', 'a')", 'SQL_ERROR', 'Invalid type specifier "d" for formatting a value of type string'],
  ["SELECT to_timestamp('x')", 'SQL_ERROR', "line 1, column 21: Could not convert string 'x' to DOUBLE"],
  ['SELECT make_date(2026, 13, 1)', 'VALUE_OUT_OF_RANGE', 'Date out of range: 2026-13-1'],
  ["SELECT bit_count('x')", 'SQL_ERROR', 'line 1, column 8: bit_count() does not take (VARCHAR)'],
  ["SELECT array_slice([1], 'a', 2)", 'SQL_ERROR', "line 1, column 25: Could not convert string 'a' to BIGINT"],
  ["SELECT list_sort([1], 'x')", 'SQL_ERROR', 'Enum value: unrecognized value "X" for enum "OrderType"'],
  ["SELECT list_value(1, 'a')", 'SQL_ERROR', "line 1, column 22: Could not convert string 'a' to INTEGER"],
  ["SELECT from_base64('!')", 'SQL_ERROR', 'Could not decode string "!" as base64: length must be a multiple of 4'],
  [
    "SELECT decode('\\xFF'::BLOB)",
    'SQL_ERROR',
    'line 1, column 21: Failure in decode: could not convert blob to UTF8 string, the blob contained invalid UTF8 characters.',
  ],
  ['SELECT enum_range(NULL)', 'SQL_ERROR', 'This function needs an ENUM as an argument'],
  ['SELECT to_base(5, 1)', 'SQL_ERROR', "'to_base' radix must be between 2 and 36"],
  ['SELECT random(1)', 'SQL_ERROR', 'line 1, column 8: random() does not take (INTEGER)'],
  ['SELECT version(1)', 'SQL_ERROR', 'line 1, column 8: version() does not take (INTEGER)'],
  ["SELECT current_setting('threads')", 'REFUSED', 'line 1, column 8: the function current_setting does not exist or is refused'],
  ['SELECT typeof(1, 2)', 'SQL_ERROR', 'line 1, column 8: typeof() does not take (INTEGER, INTEGER)'],
  [
    'SELECT 1 AS a, a.b',
    'UNKNOWN_COLUMN',
    `line 1, column 8: Cannot extract field 'b' from expression "1" because it is not a struct, union, map, or json`,
  ],
  ["SELECT 'é', nocol", 'UNKNOWN_COLUMN', 'line 1, column 13: there is no column "nocol"'],
  ['SELECT 1;\nSELECT nocol FROM keyed_state', 'UNKNOWN_COLUMN', 'line 2, column 8: there is no column "nocol"'],
  ['SELECT\n  1,\n  nocol\nFROM keyed_state', 'UNKNOWN_COLUMN', 'line 3, column 3: there is no column "nocol"'],
  ["SELECT\n  1,\n  CAST('x' AS INT)\nFROM keyed_state", 'SQL_ERROR', "line 3, column 3: Could not convert string 'x' to INTEGER"],
  [
    '-- comment\nSELECT /* c */ uper(state_name) FROM keyed_state',
    'REFUSED',
    'line 2, column 16: the function uper does not exist or is refused',
  ],
];

const ALASQL: readonly (readonly [sql: string, code: string, message: string])[] = [
  ['SELEC 1', 'SQL_SYNTAX', 'line 1, column 7: syntax error at or near "1"'],
  ['SELECT FROM', 'SQL_SYNTAX', 'line 1, column 12: syntax error at end of input'],
  ['SELECT key FROM keyed_state WHERE', 'SQL_SYNTAX', 'line 1, column 34: syntax error at end of input'],
  ["SELECT key FROM keyed_state WHERE key = 'a", 'SQL_SYNTAX', 'line 1, column 41: a quoted string that does not end'],
  ['SELECT "key FROM keyed_state', 'SQL_SYNTAX', 'line 1, column 8: a quoted name that does not end'],
  ['SELECT key,,value FROM keyed_state', 'SQL_SYNTAX', 'line 1, column 11: syntax error at or near ","'],
  ['SELECT key FROM keyed_state WHERE key = 5 key = 6', 'SQL_SYNTAX', 'line 1, column 43: syntax error at or near "key"'],
  ['SELECT key\nFROM FROM keyed_state', 'SQL_SYNTAX', 'line 2, column 6: syntax error at or near "FROM"'],
  ["SELECT 'é' FROM keyed_state WHERE AND", 'SQL_SYNTAX', 'line 1, column 35: syntax error at or near "AND"'],
  ['SELECT key FROM keyed_state ORDER key', 'SQL_SYNTAX', 'line 1, column 35: syntax error at or near "key"'],
  ['SELECT *, key FROM keyed_state WHERE (key = 1', 'SQL_SYNTAX', 'line 1, column 46: syntax error at end of input'],
  ['SELECT ky FROM keyed_state', 'UNKNOWN_COLUMN', 'line 1, column 8: there is no column "ky"'],
  ['SELECT key FROM keyd_state', 'UNKNOWN_TABLE', 'line 1, column 17: there is no table "keyd_state"'],
  ['SELECT sum(key) FROM keyed_state', 'REFUSED', 'line 1, column 8: the function sum is not in what the alasql engine answers'],
  ['SELECT key FROM keyed_state WHERE value > 5', 'REFUSED', 'line 1, column 35: < and > on value, which has several types here'],
  ['SELECT key, count(*) FROM keyed_state', 'REFUSED', 'count(*) beside columns or ORDER BY is not in what the alasql engine answers'],
];

/** names that nobody but the engine and this program knows */
const INTERNAL =
  /statequery_scan|\u00b7|\u0001|memory\.|LINE \d|\bU?INT(8|16|32|64|128)\b|\bBOOL\b|_LITERAL|json_(de)?serialize|\w Error:|SET "?\w+ ?=/;

let snapshot: OpenedSnapshot;
let duckdb: Database;
let alasql: Database;
beforeAll(async () => {
  snapshot = openSnapshot(fixture('2.3-types-hashmap-native'));
  const snapshots = new Map([['snapshot', snapshot.catalog]]);
  duckdb = await openDatabase({ snapshots, threads: 1 });
  alasql = await openDatabase({ snapshots, engine: 'alasql' });
});
afterAll(async () => {
  await duckdb.close();
  await alasql.close();
  snapshot.close();
});

async function errorOf(db: Database, sql: string): Promise<StateQueryError> {
  try {
    for await (const { batches } of db.query(sql)) for await (const _ of batches);
  } catch (error) {
    if (error instanceof StateQueryError) return error;
    throw error;
  }
  throw new Error(`no error: ${sql}`);
}

function check(error: StateQueryError): void {
  expect(error).toBeInstanceOf(SqlError);
  for (const text of [error.message, error.hint ?? '']) {
    expect(text).not.toMatch(INTERNAL);
    expect(text).not.toContain('\n');
    expect(text.length).toBeLessThan(400);
  }
  const { line, column } = error as SqlError;
  if (line !== undefined) expect(error.message).toMatch(new RegExp(`^line ${line}, column ${column}: `));
}

describe('the default engine', () => {
  it.each(DUCKDB)('%j', async (sql, code, message) => {
    const error = await errorOf(duckdb, sql);
    check(error);
    expect(`${error.code} ${error.message}`).toBe(`${code} ${message}`);
  });

  const hints: readonly (readonly [string, string | RegExp])[] = [
    ['SELECT sum(state_name) FROM keyed_state', /^cast the arguments: TRY_CAST\(x AS …\); there are sum\(DECIMAL\), /],
    ['SELECT uper(state_name) FROM keyed_state', /^did you mean upper\? /],
    ['SELECT row_number() FROM keyed_state', 'write row_number(…) OVER (…)'],
    ["SELECT CAST('x' AS INTEGER)", 'TRY_CAST gives NULL instead of an error'],
    ['SELECT count(*) FROM keyed_state WHERE count(*) > 1', 'conditions on aggregates stand in HAVING'],
    ['SELECT (SELECT key_group FROM keyed_state)', 'add LIMIT 1 or an aggregate, or compare with IN (SELECT …)'],
    ["SELECT E'\\u200bx'", "write the character itself, or 'a' || chr(8203) || 'b'"],
    ["SELECT DATE '290000-01-01' + INTERVAL 1000000 YEAR", 'a TIMESTAMP holds the years -290307 to 294246'],
    ['SELECT 9223372036854775807 + 1', 'cast one side to a wider type: x::HUGEINT, x::DOUBLE'],
    ["SELECT list_sort([1], 'x')", 'ASC'],
    ['SELECT a FROM (SELECT 1 AS a, 2 AS b) GROUP BY b', 'add it to GROUP BY, or take any_value(…) of it'],
  ];
  it.each(hints)('says what to do about %j', async (sql, hint) => {
    const error = await errorOf(duckdb, sql);
    if (typeof hint === 'string') expect(error.hint).toBe(hint);
    else expect(error.hint).toMatch(hint);
  });

  it('has the place of what it was made of, however the statement was rewritten', async () => {
    const places: readonly (readonly [string, string])[] = [
      ["SELECT 1 FROM keyed_state\nWHERE state_name = 'pojo'\n  AND value = [1, 2]", 'line 3, column 7'],
      ['WITH c AS (SELECT state_name AS s FROM keyed_state)\nSELECT CAST(s AS INT) FROM c', 'line 2, column 8'],
      ['SELECT k.key_group FROM keyed_state k JOIN operators o USING (operator_id)\nWHERE length(k.state_name, 1) = 2', 'line 2, column 7'],
      ['EXPLAIN ANALYZE SELECT 1,\n CAST(state_name AS INT) FROM keyed_state', 'line 2, column 2'],
      ["SELECT 1;\nSELECT 'ü', sum(state_name) FROM keyed_state", 'line 2, column 13'],
      ["SELECT {'a': 1, 'b': '1010'::BIT}, CAST(state_name AS INT) FROM keyed_state", 'line 1, column 36'],
    ];
    for (const [sql, place] of places) expect((await errorOf(duckdb, sql)).message, sql).toMatch(new RegExp(`^${place}: `));
  });
});

describe('the second engine', () => {
  it.each(ALASQL)('%j', async (sql, code, message) => {
    const error = await errorOf(alasql, sql);
    check(error);
    expect(`${error.code} ${error.message}`).toBe(`${code} ${message}`);
    expect(error.hint).toBeDefined();
  });
});
