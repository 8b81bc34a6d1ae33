/**
 * `meta` for people: a head, then the states grouped by operator, in at most 100 columns. Long types go on on the next line.
 *
 *   savepoint   canonical, checkpoint 3, 2026-11-30T06:12:45Z (time of the file)
 *   Flink       2.0 or later (metadata version 5)
 *   size        31,862 bytes, self-contained
 *   content     3 operators, 4 states, 1 not decodable
 *
 *   state    kind   type   value
 *   word-count, "count words", fdae8dad403fd2441defe2c3680362f5, parallelism 2 of 128, key VARCHAR
 *     count  keyed  VALUE  BIGINT
 *   4_group-aggregate (plan), GroupAggregate[4], 23eaad2bb152dd975bbc63554c2ca61f, parallelism 2 of 128
 *     GroupAggregate(groupBy=[word], select=[word, SUM(n) AS total])
 *     accState  keyed  VALUE  word VARCHAR → sum BIGINT
 */
import { compareFlinkVersions } from '../checkpoint/flink-versions.js';
import { parseSqlUid } from '../checkpoint/sql-uids.js';
import { jsonOf, textOf } from '../io/json.js';
import type { Paint } from '../output/color.js';
import { escapeText } from '../output/escape.js';
import { displayWidth, loadWidths, mayBeWide } from '../output/width.js';
import type { OpenedSnapshot } from '../tables/snapshot.js';
import type { OperatorView } from '../tables/states.js';
import type { ColumnSpec } from '../tables/table.js';
import type { Value } from '../types.js';
import { type ObjectRow, tableObjects } from './table-rows.js';

interface Facts {
  readonly snapshot: ObjectRow;
  /** what the range of Flink releases is drawn from */
  readonly evidence: readonly string[];
  /** lines below the title of an operator, by its id */
  readonly remarks: ReadonlyMap<string, readonly string[]>;
  readonly operators: readonly { readonly operator: ObjectRow; readonly states: readonly ObjectRow[] }[];
  /** states of no operator: master hooks */
  readonly others: readonly ObjectRow[];
}

function factsOf(snapshot: OpenedSnapshot): Facts {
  const states = new Map<Value | undefined, ObjectRow[]>();
  const others: ObjectRow[] = [];
  for (const row of tableObjects(snapshot, 'state_meta')) {
    const id = row['operator_id'] ?? null;
    if (id === null) others.push(row);
    else states.set(id, [...(states.get(id) ?? []), row]);
  }
  // the headers were read for the states: the serializers in them narrow the range
  const flink = snapshot.flinkVersions();
  return {
    snapshot: tableObjects(snapshot, 'snapshot')[0],
    evidence: flink.evidence.map(({ because, since, until }) => `${because}: ${rangeText(since, until)}`),
    remarks: new Map(snapshot.operators.map(o => [o.id, remarksOf(snapshot, o)])),
    operators: tableObjects(snapshot, 'operators').map(operator => ({ operator, states: states.get(operator['operator_id']) ?? [] })),
    others,
  };
}

function rangeText(since: string | undefined, until: string | undefined): string {
  if (since === undefined) return until === undefined ? 'any' : `${until} or earlier`;
  if (until === undefined) return `${since} or later`;
  return compareFlinkVersions(since, until) === 0 ? since : `${since}–${until}`;
}

function remarksOf(snapshot: OpenedSnapshot, operator: OperatorView): string[] {
  const { uid, name } = operator;
  const hint = snapshot.hintOf(operator);
  const topology = snapshot.topologyOf(operator);
  return [
    ...(name !== null && isDescription(name) ? [name] : []),
    ...(uid === null && name === null && hint !== null ? [`likely: ${hint}`] : []),
    ...(topology === null ? [] : [topology]),
  ].map(escapeText);
}

/** A plan's description of an exec node, which is no name. */
const isDescription = (name: string): boolean => /^\w+\(.*\)$/s.test(name);

/** `GroupAggregate[4]`, as Flink 2 calls the operators of exec nodes. */
function shortName(name: string, uid: string): string {
  if (!isDescription(name)) return `"${name}"`;
  const kind = name.slice(0, name.indexOf('('));
  const node = parseSqlUid(uid)?.nodeId;
  return node === undefined ? kind : `${kind}[${node}]`;
}

const OPERATOR_FACTS = /^operator_|^parallelism$|^max_parallelism$/;

/** `{"snapshot":{…},"operators":[{…,"states":[{…}]}],"master_states":[…]}`: the rows of the tables of these names. */
export function metaJson(snapshot: OpenedSnapshot, numbers: 'exact' | 'string'): string {
  const facts = factsOf(snapshot);
  const object = (table: string, row: ObjectRow, leave: (name: string) => boolean = () => false): string[] =>
    columnsOf(snapshot, table)
      .filter(c => !leave(c.name))
      .map(c => `${JSON.stringify(c.name)}:${c.type === 'dynamic' ? 'null' : jsonOf(c.type, row[c.name] ?? null, { numbers })}`);
  const operators = facts.operators.map(({ operator, states }) => {
    const own = object('operators', operator);
    const named =
      states.length === 0 ? [] : object('state_meta', states[0], name => name !== 'operator_uid_source' && name !== 'operator_hint');
    const list = states.map(s => `{${object('state_meta', s, name => OPERATOR_FACTS.test(name)).join(',')}}`);
    const remarks = JSON.stringify(facts.remarks.get(String(operator['operator_id'])) ?? []);
    return `{${[...own, ...named, `"remarks":${remarks}`, `"states":[${list.join(',')}]`].join(',')}}`;
  });
  const masters = facts.others.map(row => `{${object('state_meta', row).join(',')}}`);
  const head = [...object('snapshot', facts.snapshot), `"flink_evidence":${JSON.stringify(facts.evidence)}`];
  return `{"snapshot":{${head.join(',')}},\n"operators":[${operators.join(',\n')}],\n"master_states":[${masters.join(',')}]}\n`;
}

function columnsOf(snapshot: OpenedSnapshot, table: string): readonly ColumnSpec[] {
  const found = snapshot.catalog.find(table);
  if (found === undefined) throw new Error(`there is no table ${table}`);
  return found.spec.columns;
}

const COLUMNS = ['state', 'kind', 'type', 'value'] as const;
type Line = Readonly<Record<(typeof COLUMNS)[number], string>>;

/** @param verbose what the range of Flink releases is drawn from, too */
export async function metaPage(snapshot: OpenedSnapshot, paint: Paint, width: number, verbose = false): Promise<string> {
  const facts = factsOf(snapshot);
  await loadWidthsFor([facts.snapshot, ...facts.operators.flatMap(o => [o.operator, ...o.states]), ...facts.others]);
  const out: string[] = head(facts, paint, width, verbose);
  const groups = [
    ...facts.operators.map(({ operator, states }) => ({ title: titleOf(operator, states), states, operator })),
    ...(facts.others.length === 0 ? [] : [{ title: 'master hooks', states: facts.others, operator: {} as ObjectRow }]),
  ];
  const lines = groups.map(g => g.states.map(row => lineOf(row, keyTypes(g.states).length > 1, rowKey(g.states))));
  const widths = columnWidths(lines.flat(), width);
  const write = (line: Line, style: (text: string) => string = text => text): void => {
    const cells = COLUMNS.map(c => wrap(line[c], widths[c]));
    for (let i = 0; i < Math.max(...cells.map(c => c.length)); i++) {
      const row = COLUMNS.map((c, at) => pad(cells[at][i] ?? '', widths[c])).join('  ');
      out.push(style(row.trimEnd()));
    }
  };
  if (lines.some(l => l.length > 0)) {
    out.push('');
    write({ state: 'state', kind: 'kind', type: 'type', value: 'value' }, paint.dim);
  }
  groups.forEach(({ title, states, operator }, g) => {
    for (const [i, part] of wrap(title, width - 2).entries()) out.push(paint.bold(i === 0 ? part : `  ${part}`));
    for (const remark of facts.remarks.get(text(operator['operator_id'])) ?? [])
      for (const part of wrap(remark, width - 4)) out.push(paint.dim(`    ${part}`));
    if (states.length === 0) out.push(paint.dim('  no state'));
    states.forEach((state, s) => {
      write(lines[g][s]);
      const reason = text(state['reason']);
      if (reason !== '') for (const part of wrap(`! ${reason}`, width - 4)) out.push(paint.yellow(`    ${part}`));
    });
  });
  return `${out.join('\n')}\n`;
}

/** Loads the widths of CJK and emoji where a text has more than ASCII. */
async function loadWidthsFor(rows: readonly ObjectRow[]): Promise<void> {
  if (rows.some(row => Object.values(row).some(v => typeof v === 'string' && mayBeWide(v)))) await loadWidths();
}

function head(facts: Facts, paint: Paint, width: number, verbose: boolean): string[] {
  const s = facts.snapshot;
  const states = [...facts.operators.flatMap(o => o.states), ...facts.others];
  const named = states.filter(row => (row['state_name'] ?? null) !== null);
  const blobs = states.length - named.length;
  const opaque = named.filter(row => row['decodable'] === false).length;
  const yes = (name: string, words: string): string[] => (s[name] === true ? [words] : []);
  const modified = s['modified_at'] ?? null;
  const facets: readonly (readonly [name: string, value: string])[] = [
    [
      text(s['kind']) || 'snapshot',
      [
        ...(s['format'] == null ? [] : [text(s['format'])]),
        `checkpoint ${text(s['checkpoint_id'])}`,
        ...(s['checkpoint_type'] == null ? [] : [text(s['checkpoint_type'])]),
        ...(modified === null ? [] : [`${textOf({ kind: 'TIMESTAMPTZ' }, modified)} (time of the file)`]),
        ...yes('unaligned', 'unaligned'),
      ].join(', '),
    ],
    ['path', text(s['path'])],
    ['Flink', `${text(s['flink_versions']) || 'unknown'} (metadata version ${text(s['metadata_version'])})`],
    ...(verbose ? facts.evidence.map(line => ['', line] as const) : []),
    [
      'size',
      [
        `${thousands(s['total_size_in_bytes'])} bytes`,
        ...yes('self_contained', 'self-contained'),
        ...yes('relocatable', 'relocatable'),
      ].join(', '),
    ],
    [
      'content',
      [
        count(facts.operators.length, 'operator'),
        `${count(named.length, 'state')}${opaque === 0 ? '' : `, ${opaque} not decodable`}`,
        ...(blobs === 0 ? [] : [`${count(blobs, 'raw, coordinator or master blob')}`]),
      ].join(', '),
    ],
  ];
  const label = Math.max(...facets.map(([name]) => name.length)) + 2;
  return facets.flatMap(([name, value]) =>
    wrap(value, width - label).map((part, i) => (i === 0 ? paint.bold(name.padEnd(label)) + part : ' '.repeat(label) + part)),
  );
}

function titleOf(operator: ObjectRow, states: readonly ObjectRow[]): string {
  const uid = text(operator['operator_uid']);
  const name = text(operator['operator_name']);
  const source = text(states[0]?.['operator_uid_source']);
  const finished = text(operator['finished']);
  return [
    ...(uid === '' ? [] : [source === '' || source === 'snapshot' ? uid : `${uid} (${source})`]),
    ...(name === '' || name === uid ? [] : [shortName(name, uid)]),
    ...(uid === '' && name === '' ? ['operator without a name'] : []),
    text(operator['operator_id']),
    `parallelism ${text(operator['parallelism'])} of ${text(operator['max_parallelism'])}`,
    ...(finished === '' || finished === 'no' ? [] : [`${finished} finished`]),
    ...(keyTypes(states).length === 1 && rowKey(states) === undefined ? [`key ${keyTypes(states)[0]}`] : []),
  ].join(', ');
}

/** Types of the operator's key: one, unless its subtasks were written by different jobs. */
function keyTypes(states: readonly ObjectRow[]): readonly string[] {
  return [...new Set(states.map(row => text(row['key_type'])).filter(type => type !== ''))];
}

/** The columns of the operator's key, where it is a row: they stand before each value. */
function rowKey(states: readonly ObjectRow[]): string | undefined {
  const types = keyTypes(states);
  return types.length === 1 && types[0].startsWith('STRUCT(') ? fieldsText(types[0]) : undefined;
}

/** `STRUCT(a BIGINT, b VARCHAR)` as `a BIGINT, b VARCHAR`. */
function fieldsText(type: string): string {
  if (!type.startsWith('STRUCT(') || !type.endsWith(')')) return type;
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < type.length - 1; i++) {
    const char = type[i];
    if (char === '"') quoted = !quoted;
    else if (!quoted && char === '(') depth++;
    else if (!quoted && char === ')' && --depth === 0) return type;
  }
  return type.slice('STRUCT('.length, -1);
}

function lineOf(row: ObjectRow, withKey: boolean, keyColumns: string | undefined): Line {
  const key = text(row['key_type']);
  const namespace = text(row['namespace_type']);
  const mapKey = text(row['map_key_type']);
  const value = text(row['value_type']);
  const mode = text(row['distribution_mode']);
  const size = row['size_bytes'] ?? null;
  const name = row['state_name'] ?? null;
  const content = mapKey === '' ? fieldsText(value) : `${fieldsText(mapKey)} => ${fieldsText(value)}`;
  return {
    state: `  ${name === null ? (size === null ? '-' : `${thousands(size)} bytes`) : text(name)}`,
    kind: text(row['state_kind']),
    type: [mode === '' ? text(row['state_type']) : mode, ...(row['ttl'] === true ? ['TTL'] : [])].join(' '),
    value: [
      ...(withKey && key !== '' ? [`key ${key}`] : []),
      ...(namespace === '' ? [] : [`namespace ${namespace}`]),
      ...(mapKey === '' && value === '' ? [] : [`${keyColumns === undefined || key === '' ? '' : `${keyColumns} → `}${content}`]),
    ].join(', '),
  };
}

/** Least widths, in the order in which columns give way. */
const NARROWING = [
  ['value', 40],
  ['state', 26],
  ['value', 24],
  ['state', 14],
  ['type', 8],
] as const;
const MOST = { state: 40, kind: 12, type: 20, value: 1000 } as const;

/** Natural widths, narrowed until the line fits. */
function columnWidths(lines: readonly Line[], width: number): Record<(typeof COLUMNS)[number], number> {
  const widths = { state: 0, kind: 0, type: 0, value: 0 };
  for (const c of COLUMNS) widths[c] = Math.min(MOST[c], Math.max(c.length, ...lines.map(l => displayWidth(l[c]))));
  const excess = () => COLUMNS.reduce((sum, c) => sum + widths[c], 2 * (COLUMNS.length - 1)) - width;
  for (const [column, least] of NARROWING) {
    const narrower = Math.max(least, widths[column] - Math.max(0, excess()));
    widths[column] = Math.min(widths[column], narrower);
  }
  return widths;
}

/** Lines of at most `width` columns, broken after a space, comma or bracket where there is one. */
function wrap(value: string, width: number): string[] {
  const lines: string[] = [];
  let rest = value;
  const indent = /^ */.exec(value)?.[0] ?? '';
  while (displayWidth(rest) > width) {
    let end = 0;
    let good = 0;
    let used = 0;
    for (const segment of mayBeWide(rest) ? Array.from(new Intl.Segmenter().segment(rest), s => s.segment) : rest) {
      used += displayWidth(segment);
      if (used > width) break;
      end += segment.length;
      if (/[ ,/-]/.test(segment) && end > indent.length) good = end;
    }
    const cut = good > 0 ? good : Math.max(end, 1);
    lines.push(rest.slice(0, cut).trimEnd());
    rest = indent + rest.slice(cut).trimStart();
    if (rest.trim() === '') return lines;
  }
  lines.push(rest);
  return lines;
}

function pad(value: string, width: number): string {
  return value + ' '.repeat(Math.max(0, width - displayWidth(value)));
}

function text(value: Value | undefined): string {
  return value === null || value === undefined ? '' : escapeText(String(value));
}

function thousands(value: Value | undefined): string {
  return text(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

function count(n: number, word: string): string {
  return `${n} ${word}${n === 1 ? '' : 's'}`;
}
