/** Conditions over the tables of real snapshots, made of their own values and of what is like them and is not. */
import { columnValue } from '../../src/io/column.js';
import { jsonOf, textOf } from '../../src/io/json.js';
import type { Catalog, Restriction, Table } from '../../src/tables/table.js';
import { JsonText, type SqlType, sqlTypeText, type Value } from '../../src/types.js';

/** xorshift: the same numbers in every run */
export function random(seed: number): (n: number) => number {
  let x = seed;
  return n => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) % n;
  };
}

/** Values of one column, each once. */
export interface Column {
  readonly name: string;
  readonly type: SqlType;
  readonly mixed: boolean;
  readonly values: readonly Value[];
}

/** Where a condition may stand. */
export interface Place {
  /** FROM item and what of WHERE narrows it */
  readonly from: string;
  readonly where: string;
  readonly columns: readonly Column[];
  /** identifies a row, as one text */
  readonly row: (alias: string) => string;
  /** the operator that it is narrowed to */
  readonly operator?: string;
  /** names of fields of its values, for paths into them */
  readonly paths?: readonly string[];
}

/** Rows of a table, as values of its columns. */
export function columnsOf(table: Table, restrictions: readonly Restriction[], names: readonly string[]): Column[] {
  const bound = table.bind(restrictions);
  const columns = bound.columns.filter(c => names.includes(c.name));
  const scan = bound.scan({ columns: columns.map(c => ({ name: c.name, form: c.mixed ? 'text' : 'value' })), filters: [] });
  const found = columns.map(() => new Map<string, Value>());
  try {
    for (let batch = scan.next(); batch !== undefined; batch = scan.next())
      for (let row = 0; row < batch.length; row++)
        columns.forEach((c, i) => {
          const value = columnValue(batch.columns[i], row);
          const type: SqlType = c.mixed ? { kind: 'VARCHAR' } : c.type;
          if (found[i].size < 200) found[i].set(jsonOf(type, value), value);
        });
  } finally {
    scan.close();
  }
  return columns.map((c, i) => ({ name: c.name, type: c.type, mixed: c.mixed, values: [...found[i].values()] }));
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/**
 * Literals that are the value, are like it, or are nothing of the kind.
 * @param plain those alone that every engine compares with the type
 */
function literals(column: Column, value: Value, plain: boolean): readonly string[] {
  const type: SqlType = column.mixed ? { kind: 'VARCHAR' } : column.type;
  if (value === null) return ['NULL'];
  const text = value instanceof JsonText ? value.text : textOf(type, value);
  const own = quoted(text);
  if (plain) return plainLiterals(type, value, text);
  switch (type.kind) {
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
    case 'BIGINT':
    case 'HUGEINT': {
      const n = BigInt(value as number | bigint);
      return [
        text,
        text,
        own,
        own,
        quoted(`0${text}`),
        `${text}.0`,
        `${text}.5`,
        quoted(`${text}.00`),
        quoted(`+${text}`),
        quoted(` ${text} `),
        String(n + 1n),
        quoted(`${text}x`),
        ...longNumbers(text),
      ];
    }
    case 'FLOAT':
    case 'DOUBLE':
      return Number.isFinite(value)
        ? [own, own, text.includes('e') ? own : text, quoted(`${text}0`), '0', '-0.0', "'-0.0'", '1.5', "'1.50'", "'NaN'", '-1e400', LONG]
        : [own, own, "'nan'", "'inf'"];
    case 'DECIMAL':
      return [text, own, `${text}0`, quoted(`${text}0`), `${text}1`, `${text}${'0'.repeat(40)}`, `${text}${'0'.repeat(40)}1`, LONG];
    case 'VARCHAR':
    case 'JSON':
      return /^-?[0-9]{1,18}$/.test(text)
        ? [own, own, text, `${text}.0`, quoted(`0${text}`), ...longNumbers(text)]
        : [own, own, own, quoted(`${text} `), quoted(text.toUpperCase())];
    case 'BLOB':
      return [`'${[...(value as Uint8Array)].map(b => `\\x${b.toString(16).padStart(2, '0')}`).join('')}'::BLOB`, own];
    case 'BOOLEAN':
      return [text, own, "'t'", "'x'"];
    case 'STRUCT':
      return [`${structLiteral(type, value)}`];
    case 'LIST':
    case 'MAP':
    case 'INTERVAL':
      return ['NULL'];
    default:
      return [own, own, `${sqlTypeText(type)} ${own}`.replace(/^(TIME_NS|TIMESTAMPTZ|TIMESTAMP_NS|UUID) ('.*')$/, '$2::$1'), "'x'"];
  }
}

/** 60 digits: more than any type of integers has */
const LONG = '160693804425899027554196209234160693804425899027554196209234';

/** An integer with a fraction of more digits than a DECIMAL has, and one beyond all integers; with an exponent. */
const longNumbers = (text: string): readonly string[] => [
  `${text}.${'0'.repeat(40)}`,
  `${text}.${'0'.repeat(40)}1`,
  `${text}${'0'.repeat(60)}`,
  `${text}e0`,
  quoted(`${text}00e-2`),
  LONG,
  `-${LONG}`,
  quoted(LONG),
];

function plainLiterals(type: SqlType, value: Value, text: string): readonly string[] {
  const own = quoted(text);
  switch (type.kind) {
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
    case 'BIGINT':
      return [text, text, `${text}.0`, `${text}.5`, String(BigInt(text) + 1n), '0', '9007199254740993', '1.5', '1.50'];
    case 'HUGEINT':
      return [text, text, String(BigInt(text) + 1n), '0'];
    case 'FLOAT':
    case 'DOUBLE':
      return [
        `${own}::${type.kind}`,
        text.includes('e') || !Number.isFinite(value) ? `${own}::DOUBLE` : text,
        '0',
        '-0.0',
        '1.5',
        '1.50',
        "'NaN'::DOUBLE",
      ];
    case 'DECIMAL':
      return [text, `${text}0`];
    case 'BLOB':
    case 'STRUCT':
    case 'LIST':
    case 'MAP':
    case 'INTERVAL':
      return literals({ name: '', type, mixed: false, values: [] }, value, false).slice(0, 1);
    case 'BOOLEAN':
      return [text, 'true', 'false'];
    case 'VARCHAR':
      return [own, own, quoted(`${text} `), "''", "'x'"];
    default:
      return [own, `${own}::${sqlTypeText(type)}`];
  }
}

function structLiteral(type: SqlType, value: Value): string {
  if (value === null) return 'NULL';
  if (type.kind === 'STRUCT' && typeof value === 'object' && 'values' in value) {
    const fields = type.fields.map((f, i) => `'${f.name}': ${structLiteral(f.type, (value as { values: readonly Value[] }).values[i])}`);
    return `{${fields.join(', ')}}`;
  }
  const text = textOf(type, value);
  if (/^(?:[A-Z]*INT|INTEGER|BOOLEAN)$/.test(type.kind)) return text;
  return type.kind === 'VARCHAR' ? quoted(text) : `${quoted(text)}::${sqlTypeText(type)}`;
}

const STRANGE = [
  "''",
  "'x'",
  '0',
  '1',
  '1.5',
  "'1.5'",
  "'1.50'",
  '9007199254740993',
  "'9007199254740993'",
  '9223372036854775808',
  "'01'",
  "'1e2'",
  "'NaN'",
  '-0.0',
  '0.0',
  '1e400',
  LONG,
  'NULL',
  "'key_1'",
];

/** A condition on a path into the values of `alias`, also one that leads nowhere. */
function pathCondition(r: (n: number) => number, paths: readonly string[], alias: string): string {
  const pick = <T>(list: readonly T[]): T => list[r(list.length)];
  const field = pick(paths).replaceAll("'", "''");
  const text = `${alias}.value->>'${field}'`;
  return pick([
    `${text} = ${pick(STRANGE)}`,
    `${text} IN (${pick(STRANGE)}, ${pick(STRANGE)})`,
    `${text} IS ${pick(['', 'NOT '])}NULL`,
    `${alias}.value->'${field}' IS ${pick(['', 'NOT '])}NULL`,
    `${text} LIKE '%1%'`,
    `length(${text}) > 2 AND NOT ${text} = ${pick(STRANGE)}`,
  ]);
}

/** A condition on the columns of `alias`. */
export function condition(r: (n: number) => number, columns: readonly Column[], alias: string, plain: boolean, depth = 2): string {
  const pick = <T>(list: readonly T[]): T => list[r(list.length)];
  if (depth > 0) {
    switch (r(9)) {
      case 0:
      case 1:
        return `(${condition(r, columns, alias, plain, depth - 1)} AND ${condition(r, columns, alias, plain, depth - 1)})`;
      case 2:
        return `(${condition(r, columns, alias, plain, depth - 1)} OR ${condition(r, columns, alias, plain, depth - 1)})`;
      case 3:
        return `NOT (${condition(r, columns, alias, plain, depth - 1)})`;
    }
  }
  // keys are what lookups are about
  const column = r(3) > 0 ? columns[0] : pick(columns);
  const name = `${alias}.${column.name}`;
  const nested = column.type.kind === 'LIST' || column.type.kind === 'MAP' || (column.type.kind === 'STRUCT' && !column.mixed);
  const literal = (): string => {
    if (column.values.length === 0 || (!nested && !plain && r(6) === 0)) return nested || plain ? 'NULL' : pick(STRANGE);
    return pick(literals(column, pick(column.values), plain));
  };
  if (column.type.kind === 'STRUCT' && !column.mixed && column.values.length > 0 && r(2) === 0) {
    const fields = column.type.fields;
    const value = pick(column.values);
    if (value !== null && typeof value === 'object' && 'values' in value) {
      const { values } = value as { values: readonly Value[] };
      return fields
        .map(
          (f, i) =>
            `${name}.${f.name} ${values[i] === null ? 'IS NULL' : f.type.kind === 'STRUCT' ? 'IS NOT NULL' : `= ${pick(literals({ ...column, name: f.name, type: f.type, values: [] }, values[i], plain))}`}`,
        )
        .join(' AND ');
    }
  }
  const equality = column.mixed || nested;
  const op = pick(
    equality ? ['=', '=', '=', '<>', 'IS NOT DISTINCT FROM'] : ['=', '=', '=', '=', '<>', '<', '<=', '>', '>=', 'IS NOT DISTINCT FROM'],
  );
  switch (r(10)) {
    case 0:
      return `${literal()} ${op === '<' ? '>' : op} ${name}`;
    case 1:
    case 2:
      return `${name} IN (${literal()}, ${literal()}, ${literal()})`;
    case 3:
      return `${name} NOT IN (${literal()}, ${literal()})`;
    case 4:
      return equality ? `(${name} = ${literal()} OR ${name} = ${literal()})` : `${name} BETWEEN ${literal()} AND ${literal()}`;
    case 5:
      return `${name} IS ${pick(['', 'NOT '])}NULL`;
    case 6: {
      if (!column.mixed && column.type.kind !== 'VARCHAR' && column.type.kind !== 'JSON') return `${name} ${op} ${literal()}`;
      const value = column.values.length === 0 ? '' : pick(column.values);
      const text = value instanceof JsonText ? value.text : typeof value === 'string' ? value : '';
      return `${name} LIKE ${quoted(`${text.slice(0, 1 + r(5)).replaceAll('\\', '_')}%`)}`;
    }
    case 7:
      return `(${name} = ${literal()} OR ${name} IN (${literal()}, ${literal()}))`;
    default:
      return `${name} ${op} ${literal()}`;
  }
}

/** Fields of the values that restrictions leave, where their column may be asked for any; and one that none has. */
function pathsOf(table: Table, restrictions: readonly Restriction[]): { readonly paths?: readonly string[] } {
  const value = table.bind(restrictions).columns.find(c => c.name === 'value');
  if (value === undefined || (!value.mixed && value.type.kind !== 'STRUCT')) return {};
  const names = value.type.kind === 'STRUCT' ? value.type.fields.map(f => f.name) : ['id', 'name', 'f0', 'f1', 'a'];
  return { paths: [...names, 'no such field'] };
}

/** Places of a snapshot: one a keyed operator, typed; mixed; raw; timers; windows; wide tables. */
export function placesOf(catalog: Catalog): readonly Place[] {
  const out: Place[] = [];
  const table = (name: string) => catalog.find(name) as Table;
  const text = (alias: string, names: readonly string[]) =>
    names.map(n => `coalesce(TRY_CAST(${alias}.${n} AS VARCHAR), '~')`).join(" || '|' || ");
  const keyed = table('keyed_state');
  const names = columnsOf(keyed, [], ['state_name', 'operator_id']);
  const values = (list: readonly Column[], name: string) => list.find(c => c.name === name)?.values.map(String) ?? [];
  const identity = (alias: string) =>
    text(alias, ['operator_id', 'state_name', 'key', 'key_group', 'subtask_index', 'list_index', 'value_size']);
  const about = ['state_name', 'operator_id', 'operator_uid', 'key_group', 'list_index', 'subtask_index', 'map_key', 'namespace'];
  const keyFirst = (columns: Column[], key: string) => [...columns].sort((a, b) => Number(b.name === key) - Number(a.name === key));
  for (const id of values(names, 'operator_id')) {
    const restriction = [{ column: 'operator_id', values: [id] }];
    out.push({
      operator: id,
      ...pathsOf(keyed, restriction),
      from: 'keyed_state',
      where: `$.operator_id = '${id}'`,
      columns: keyFirst(columnsOf(keyed, restriction, ['key', ...about]), 'key'),
      row: identity,
    });
  }
  const mixed = keyFirst(columnsOf(keyed, [], ['key', ...about]), 'key');
  for (let i = 0; i < 3; i++) out.push({ from: 'keyed_state', where: '', ...pathsOf(keyed, []), columns: mixed, row: identity });
  const raw = table('keyed_state_raw');
  const rawIdentity = (alias: string) => text(alias, ['operator_id', 'state_name', 'key_json', 'key_group', 'list_index']);
  const rawColumns = columnsOf(raw, [], ['key_json', 'key_bytes', 'key_group', 'state_name', 'operator_id']);
  for (const key of ['key_json', 'key_bytes'])
    out.push({ from: 'keyed_state_raw', where: '', columns: keyFirst(rawColumns, key), row: rawIdentity });
  for (const name of ['timers', 'windows']) {
    const columns = keyFirst(columnsOf(table(name), [], ['key', 'operator_id', name === 'timers' ? 'timer_service' : 'state_name']), 'key');
    if ((columns[0]?.values.length ?? 0) > 0)
      out.push({
        from: name,
        where: '',
        columns,
        row: alias => text(alias, ['operator_id', name === 'timers' ? 'fires_at_ms' : 'window_end_ms', 'key']),
      });
  }
  const wide = catalog
    .names(true)
    .filter(n => /^id_.*_keyed$/.test(n))
    .slice(0, 6);
  for (const name of wide) {
    const columns = columnsOf(table(name), [], ['state_key']);
    out.push({ from: `"${name}"`, where: '', columns, row: alias => text(alias, ['state_key']) });
  }
  return out.filter(p => p.columns.length > 0);
}

/** A statement that gives one text a row, for a place and a condition. */
export function statementOf(r: (n: number) => number, place: Place, snapshot: string, plain = false): string {
  const table = `${snapshot}.${place.from}`;
  const narrowed = (alias: string, condition: string) => [place.where.replace('$', alias), condition].filter(c => c !== '').join(' AND ');
  const c = (alias: string) => {
    const own = condition(r, place.columns, alias, plain);
    if (plain || place.paths === undefined || r(4) > 0) return own;
    return `(${own} ${r(3) === 0 ? 'OR' : 'AND'} ${pathCondition(r, place.paths, alias)})`;
  };
  const [first] = place.columns;
  switch (r(8)) {
    case 0:
      return `SELECT ${place.row('x')} AS r FROM (SELECT * FROM ${table} t WHERE ${narrowed('t', 'true')}) x WHERE ${c('x')}`;
    case 1:
      return `WITH x AS (SELECT * FROM ${table} t WHERE ${narrowed('t', c('t'))}) SELECT ${place.row('x')} AS r FROM x WHERE ${c('x')}`;
    case 2:
      return `SELECT ${place.row('a')} AS r FROM ${table} a JOIN ${table} b ON a.${first.name} = b.${first.name} WHERE ${narrowed('a', c('a'))} AND ${narrowed('b', 'true')}`;
    case 3:
      return `SELECT ${place.row('a')} || coalesce(TRY_CAST(b.${first.name} AS VARCHAR), '-') AS r FROM ${table} a LEFT JOIN ${table} b ON a.${first.name} = b.${first.name} AND ${narrowed('b', c('b'))} WHERE ${narrowed('a', c('a'))}`;
    case 4:
      return `SELECT ${place.row('x')} AS r FROM (SELECT * FROM ${table} t WHERE ${narrowed('t', 'true')} UNION ALL SELECT * FROM ${table} u WHERE ${narrowed('u', 'true')}) x WHERE ${c('x')}`;
    default:
      return `SELECT ${place.row('t')} AS r FROM ${table} t WHERE ${narrowed('t', c('t'))}`;
  }
}
