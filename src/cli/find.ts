/**
 * What `find` does. Keys that are scalars are asked for as `key = '…'`, so only the key groups that can hold the key are read; nested
 * keys (tuples, POJOs, rows) are compared as JSON, which reads all of their operators.
 */
import { ReadStats } from '../io/source.js';
import { ByteWriter } from '../output/bytes.js';
import { writeJsonText } from '../output/escape.js';
import type { Database } from '../sql/engine.js';
import type { OpenedSnapshot } from '../tables/snapshot.js';
import { BIGINT, VARCHAR } from '../types.js';
import type { SqlFlags } from './commands/sql.js';
import { interruptible } from './interrupt.js';
import { finishReading, openWith, snapshotPath } from './reading.js';
import { openDatabaseFor, tellScans } from './run-sql.js';
import type { Session } from './session.js';
import { type ObjectRow, objectsOf, resultOfObjects, tableObjects } from './table-rows.js';

const SCALAR_KEYS = `SELECT operator_id, state_name, count(*) AS rows FROM keyed_state WHERE key = $key GROUP BY ALL`;
const TIMERS = `SELECT operator_id, concat('_timer_state/', time_domain, '_', timer_service) AS state_name, count(*) AS rows FROM timers WHERE key = $key GROUP BY ALL`;
const nestedKeys = (operators: readonly string[]): string =>
  `SELECT operator_id, state_name, count(*) AS rows FROM keyed_state_raw WHERE operator_id IN (${operators.map(id => `'${id}'`).join(', ')}) AND key_json::VARCHAR = $key GROUP BY ALL`;

export async function runFind(key: string, path: string | undefined, flags: SqlFlags, session: Session): Promise<void> {
  const stats = new ReadStats();
  const snapshot = await openWith(snapshotPath(path), flags, session, stats);
  try {
    const states = tableObjects(snapshot, 'state_meta').filter(row => row['state_kind'] === 'keyed' || row['state_kind'] === 'timer');
    const counts = await interruptible(signal => countRows(key, snapshot, states, flags, session, signal));
    const unread = new Set(states.filter(row => row['key_type'] === 'JSON').map(idOf));
    const seen = new Set<string>();
    const rows = states
      .filter(row => !seen.has(idOf(row)) && seen.add(idOf(row)))
      .map(row => ({ ...row, rows: counts.get(idOf(row)) ?? (unread.has(idOf(row)) ? null : 0n) }));
    await session.write(
      resultOfObjects(
        [
          ['operator_id', VARCHAR],
          ['operator_uid', VARCHAR],
          ['operator_name', VARCHAR],
          ['state_name', VARCHAR],
          ['state_kind', VARCHAR],
          ['key_type', VARCHAR],
          ['rows', BIGINT],
        ],
        rows,
      ),
    );
    const found = rows.filter(row => row.rows !== null && row.rows > 0n).length;
    session.note(
      `found in ${found} of ${rows.length} keyed states and timer services${unread.size === 0 ? '' : `; the keys of ${unread.size} cannot be decoded, so nothing is known of those`}`,
    );
    finishReading([snapshot], session);
  } finally {
    snapshot.close();
  }
}

const idOf = (row: ObjectRow): string => `${row['operator_id']} ${row['state_name']}`;

async function countRows(
  key: string,
  snapshot: OpenedSnapshot,
  states: readonly ObjectRow[],
  flags: SqlFlags,
  session: Session,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, bigint>> {
  const database = await openDatabaseFor(new Map([['snapshot', snapshot]]), flags, session, signal);
  try {
    const counts = new Map<string, bigint>();
    const add = async (sql: string, text: string): Promise<void> => {
      // a nested key may be found both as a typed value and as JSON: those are the same rows
      for (const row of await allRows(database, sql, text, session)) {
        const rows = row['rows'] as bigint;
        const before = counts.get(idOf(row)) ?? 0n;
        counts.set(idOf(row), rows > before ? rows : before);
      }
    };
    await add(SCALAR_KEYS, key);
    await add(TIMERS, key);
    const nested = [
      ...new Set(states.filter(row => /^STRUCT|^MAP|\[\]$/.test(String(row['key_type']))).map(row => String(row['operator_id']))),
    ];
    if (nested.length > 0 && /^\s*[[{]/.test(key)) await add(nestedKeys(nested), oneLine(key));
    return counts;
  } finally {
    await database.close();
  }
}

async function allRows(database: Database, sql: string, key: string, session: Session): Promise<readonly ObjectRow[]> {
  const rows: ObjectRow[] = [];
  for await (const result of database.query(sql, new Map([['key', key]]))) {
    for await (const batch of result.batches) rows.push(...objectsOf(result.columns, batch));
    tellScans(result, session);
  }
  return rows;
}

/** JSON as the tables write it: without white space between tokens. */
function oneLine(json: string): string {
  const out = new ByteWriter(256);
  const bytes = Buffer.from(json);
  writeJsonText(bytes, 0, bytes.length, out);
  return out.take().toString('utf8');
}
