/**
 * The tables of an opened snapshot, by name. Names are compared without case.
 */
import { CHANNEL_RECORDS, CHANNEL_STATE, channelRecordsTable, channelStateTable } from './channel-state.js';
import { FILES, filesTable } from './files.js';
import { KEY_GROUPS, keyGroupsTable } from './key-groups.js';
import { KEYED_STATE, KEYED_STATE_RAW, keyedStateTable } from './keyed-state.js';
import { OPERATOR_STATE, OPERATOR_STATE_ALL, OPERATOR_STATE_RAW, operatorStateTable } from './operator-state.js';
import { operatorTables } from './operator-tables.js';
import { METADATA, metadataTable, OPERATORS, operatorsTable, SNAPSHOT, snapshotTable } from './operators.js';
import { RAW_STATE, rawStateTable } from './raw-state.js';
import { SINK_TRANSACTIONS, sinkTransactionsTable } from './sink-transactions.js';
import type { OpenedSnapshot } from './snapshot.js';
import { SOURCE_OFFSETS, sourceOffsetsTable } from './source-offsets.js';
import { STATE_HANDLES, stateHandlesTable } from './state-handles.js';
import { STATE_META, stateMetaTable } from './state-meta.js';
import { STATE_STATS, stateStatsTable } from './state-stats.js';
import { stateTable, stateTableNames } from './state-tables.js';
import { withRemarks } from './suggest-names.js';
import type { Catalog, Table, TableSpec } from './table.js';
import { TIMERS, timersTable } from './timers.js';
import { WINDOWS, windowsTable } from './windows.js';

interface TableEntry {
  readonly spec: TableSpec;
  open(snapshot: OpenedSnapshot): Table;
}

/** Every table with a fixed name, in the order of `tables` and of the README. */
export const TABLES: readonly TableEntry[] = [
  { spec: STATE_META, open: stateMetaTable },
  { spec: KEYED_STATE, open: s => keyedStateTable(s, KEYED_STATE) },
  { spec: OPERATOR_STATE, open: s => operatorStateTable(s, OPERATOR_STATE) },
  { spec: KEYED_STATE_RAW, open: s => keyedStateTable(s, KEYED_STATE_RAW) },
  { spec: OPERATOR_STATE_RAW, open: s => operatorStateTable(s, OPERATOR_STATE_RAW) },
  { spec: OPERATOR_STATE_ALL, open: s => operatorStateTable(s, OPERATOR_STATE_ALL) },
  { spec: OPERATORS, open: operatorsTable },
  { spec: METADATA, open: metadataTable },
  { spec: SNAPSHOT, open: snapshotTable },
  { spec: TIMERS, open: timersTable },
  { spec: WINDOWS, open: windowsTable },
  { spec: SOURCE_OFFSETS, open: sourceOffsetsTable },
  { spec: SINK_TRANSACTIONS, open: sinkTransactionsTable },
  { spec: CHANNEL_STATE, open: channelStateTable },
  { spec: CHANNEL_RECORDS, open: channelRecordsTable },
  { spec: RAW_STATE, open: rawStateTable },
  { spec: STATE_HANDLES, open: stateHandlesTable },
  { spec: FILES, open: filesTable },
  { spec: KEY_GROUPS, open: keyGroupsTable },
  { spec: STATE_STATS, open: stateStatsTable },
];

const BY_NAME: ReadonlyMap<string, TableEntry> = new Map(
  TABLES.flatMap(t => [t.spec.name, ...t.spec.aliases].map(name => [name.toLowerCase(), t] as const)),
);

/** The catalog of a snapshot. Tables are opened when they are first asked for. */
export function catalogOf(snapshot: OpenedSnapshot): Catalog {
  const opened = new Map<TableEntry, Table>();
  return {
    stats: snapshot.stats,
    find(name) {
      const entry = BY_NAME.get(name.toLowerCase());
      if (entry === undefined) return stateTable(snapshot, name) ?? operatorTables(snapshot, name)[0]?.open();
      let table = opened.get(entry);
      if (table === undefined) {
        table = withRemarks(snapshot, entry.open(snapshot));
        opened.set(entry, table);
      }
      return table;
    },
    names: all => [
      ...TABLES.map(t => t.spec.name),
      ...(all ? [...operatorTables(snapshot).map(t => t.name), ...stateTableNames(snapshot)] : []),
    ],
  };
}
