/**
 * The library: open a snapshot, look at its tables, read them with or without SQL.
 *
 *   const snapshot = openSnapshot('/savepoints/savepoint-1');
 *   const database = await openDatabase({ snapshots: new Map([['s', snapshot.catalog]]) });
 *   for await (const row of rows(database.query('SELECT key, value FROM keyed_state'))) …
 *   for (const row of scanRows(snapshot.catalog.find('operators')!)) …
 *
 * The engine is loaded by openDatabase; opening a snapshot reads `_metadata` alone.
 */
export type { Rebase } from './checkpoint/paths.js';
export { parseRebase } from './checkpoint/paths.js';
export { type InferredUid, inferUids, matchUids, operatorIdOf, parseUidsFile, type UidEntry } from './checkpoint/uid.js';
export * from './errors.js';
export { type Column, type ColumnBatch, columnValue } from './io/column.js';
export { type JsonOptions, jsonOf, textOf } from './io/json.js';
export { ReadStats } from './io/source.js';
export { openClassPool } from './java/jar.js';
export { type KnownName, mergeNames, type OperatorNames, planNames } from './names/operator-names.js';
export { type CompiledPlan, parsePlan, readPlan } from './names/plan.js';
export { type PlainObject, type PlainValue, plainValue, rows, type ScanOptions, scanRows } from './output/objects.js';
export { openProto, type ProtoSchemas } from './proto/schema.js';
export {
  type Database,
  type DatabaseOptions,
  type EngineKind,
  type EngineOptions,
  openDatabase,
  type QueryResult,
  type ResultColumn,
} from './sql/engine.js';
export { type BuildOptions, buildStateInfo } from './stateinfo/build.js';
export { decodeStateInfo, encodeStateInfo, readStateInfo, type StateInfo } from './stateinfo/message.js';
export type { Opening, OpeningHooks } from './stateinfo/opening.js';
export { type GatheredNames, gatherNames, type NameSources } from './stateinfo/sources.js';
export { OpenedSnapshot, type OpenOptions, openSnapshot, type ProtoSetting, type TtlSetting } from './tables/snapshot.js';
export type {
  BoundColumn,
  BoundTable,
  Catalog,
  ColumnSpec,
  Constant,
  Filter,
  Projection,
  Restriction,
  Scan,
  ScanExplanation,
  ScanRequest,
  Table,
  TableSpec,
} from './tables/table.js';
export * from './types.js';
export { openWithWorkers } from './workers/open.js';
