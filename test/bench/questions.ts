/**
 * What the bench asks, of which states, what a right answer is, and which of Flink's readers is asked the same.
 *
 * A question is one process from its start to its end. Its limit is what no program can do without: to read the bytes (`read`: `cat` of the
 * snapshot's files, and to start Node) or to start (`start`: `node -e 0`).
 */
import { NAME_PREFIX, namesByDigit, SAMPLE, type Truth } from './truth.js';

/** How a state is stored; `own-…` are states of states.ts. */
export const FLINK_KINDS = ['rocks-canon', 'rocks-native', 'rocks-inc', 'heap-canon', 'heap-native', 'heap-chk'] as const;
export const OWN_KINDS = ['own-canon', 'own-heap'] as const;
export type Kind = (typeof FLINK_KINDS)[number] | (typeof OWN_KINDS)[number];

export interface Peer {
  readonly tool: 'sql' | 'spa' | 'rocksjni';
  readonly query: string;
}

export interface Question {
  readonly name: string;
  readonly about: string;
  readonly limit: 'read' | 'start';
  readonly kinds: (kind: Kind) => boolean;
  /** what follows `statequery`; the path of the snapshot is put behind it */
  readonly args: readonly string[];
  /** it has a table scan, so `--threads` means something */
  readonly scans: boolean;
  /** the output is large: its lines are counted, nothing else is looked at */
  readonly lines?: (truth: Truth) => number;
  /** @returns whether the output is right */
  readonly isRight?: (stdout: string, truth: Truth) => boolean;
  readonly peer?: (kind: Kind) => Peer | undefined;
}

const isCanonical = (kind: Kind): boolean => kind.endsWith('-canon');
const isTables = (kind: Kind): boolean => kind === 'rocks-native' || kind === 'rocks-inc';
const rowsOf = (truth: Truth): number => 2 * truth.keys + truth.eventEntries;
const all = (): boolean => true;

type Rows = readonly Readonly<Record<string, unknown>>[];

/** A statement whose rows are compared. */
function statement(
  name: string,
  about: string,
  sql: string,
  expected: (truth: Truth) => Rows,
  more: Partial<Pick<Question, 'kinds' | 'limit' | 'peer'>> = {},
): Question {
  return {
    name,
    about,
    limit: 'read',
    kinds: all,
    args: ['sql', '--json', sql],
    scans: true,
    isRight: (stdout, truth) => same(JSON.parse(stdout), expected(truth)),
    ...more,
  };
}

const PROFILES = "FROM keyed_state WHERE state_name = 'profile'";
/** Flink's SQL connector refuses what RocksDB wrote itself. */
const sqlOrSpa =
  (query: string) =>
  (kind: Kind): Peer | undefined =>
    kind === 'rocks-canon' ? { tool: 'sql', query } : isTables(kind) ? { tool: 'spa', query } : undefined;
const sqlOnly =
  (query: string) =>
  (kind: Kind): Peer | undefined =>
    kind === 'rocks-canon' ? { tool: 'sql', query } : undefined;

export const QUESTIONS: readonly Question[] = [
  statement('count', 'count(*) of everything', 'SELECT count(*) AS n FROM keyed_state', truth => [{ n: rowsOf(truth) }], {
    peer: sqlOnly('count'),
  }),
  statement(
    'group',
    'group by an int of a POJO, average of a double',
    `SELECT value.status AS status, count(*) AS n, avg(value.amount) AS average ${PROFILES} GROUP BY value.status ORDER BY 1`,
    truth => truth.byStatus.map(g => ({ status: g.status, n: g.count, average: g.avgAmount })),
    { peer: sqlOrSpa('group') },
  ),
  statement(
    'text',
    'group by a text of a POJO, 16 groups',
    `SELECT left(value.name, ${NAME_PREFIX.length + 1}) AS name, count(*) AS n ${PROFILES} GROUP BY 1 ORDER BY 1`,
    truth => namesByDigit(truth).map(([name, n]) => ({ name, n })),
    {
      peer: sqlOnly(
        `SELECT SUBSTRING(profile.name, 1, ${NAME_PREFIX.length + 1}), COUNT(*) FROM full_t GROUP BY SUBSTRING(profile.name, 1, ${NAME_PREFIX.length + 1})`,
      ),
    },
  ),
  statement(
    'names',
    'group by a text of a POJO, a group for each key',
    `SELECT count(*) AS names, max(n) AS most FROM (SELECT value.name, count(*) AS n ${PROFILES} GROUP BY value.name)`,
    truth => [{ names: truth.keys, most: 1 }],
    { kinds: kind => kind === 'rocks-canon' },
  ),
  statement(
    'sum',
    'sum of a Long',
    "SELECT sum(value) AS total FROM keyed_state WHERE state_name = 'count'",
    truth => [{ total: truth.sumCount }],
    { peer: sqlOnly('sum') },
  ),
  statement(
    'key',
    'one key, all its states',
    `SELECT state_name, value FROM keyed_state WHERE key = '${SAMPLE}' ORDER BY state_name`,
    truth => [
      { state_name: 'count', value: truth.samples[SAMPLE].count },
      { state_name: 'profile', value: truth.samples[SAMPLE].profile },
    ],
    { limit: 'start', peer: sqlOrSpa('key') },
  ),
  statement(
    'full',
    'every value of every state decoded',
    "SELECT (SELECT sum(value) FROM keyed_state WHERE state_name = 'count') AS counts, " +
      "(SELECT sum(value) FROM keyed_state WHERE state_name = 'events') AS events, count(*) AS n, sum(value.id) AS ids, " +
      `sum(value.amount) AS amounts, sum(value.status) AS statuses, min(value.name) AS name ${PROFILES}`,
    truth => [
      {
        counts: truth.sumCount,
        events: truth.eventEntries === 0 ? null : truth.eventSum,
        n: truth.keys,
        ids: (truth.keys * (truth.keys - 1)) / 2,
        amounts: truth.byStatus.reduce((sum, g) => sum + g.sumAmount, 0),
        statuses: truth.byStatus.reduce((sum, g) => sum + g.status * g.count, 0),
        name: truth.samples['key_0'].profile.name,
      },
    ],
    { peer: kind => (isTables(kind) ? { tool: 'rocksjni', query: 'copy' } : undefined) },
  ),
  {
    name: 'limit',
    about: 'ten rows',
    limit: 'start',
    kinds: all,
    args: ['sql', '--json', 'SELECT * FROM keyed_state LIMIT 10'],
    scans: true,
    isRight: stdout => (JSON.parse(stdout) as Rows).length === 10,
  },
  {
    name: 'export',
    about: 'everything to ndjson',
    limit: 'read',
    kinds: kind => isCanonical(kind) || kind === 'rocks-native',
    args: ['sql', '-o', 'ndjson', 'SELECT * FROM keyed_state'],
    scans: true,
    lines: rowsOf,
  },
  {
    name: 'meta',
    about: 'statequery meta',
    limit: 'start',
    kinds: all,
    args: ['meta', '--json'],
    scans: false,
    isRight: stdout => stdout.includes('profile-op'),
    peer: kind => (kind === 'rocks-canon' ? { tool: 'sql', query: 'meta' } : undefined),
  },
];

/** Equal to the last digit, but for doubles that were added up in another order. */
function same(actual: unknown, expected: unknown): boolean {
  if (typeof actual === 'number' && typeof expected === 'number')
    return Number.isInteger(expected) ? actual === expected : Math.abs(actual - expected) <= 1e-9 * Math.abs(expected);
  if (typeof actual !== 'object' || typeof expected !== 'object' || actual === null || expected === null) return actual === expected;
  const keys = Object.keys(expected);
  return (
    Object.keys(actual).length === keys.length &&
    keys.every(key => same((actual as Record<string, unknown>)[key], (expected as Record<string, unknown>)[key]))
  );
}
