/**
 * What a connector's format gives: splits of a source with their positions, transactions and files of a sink.
 *
 * A format is tried against all bytes of an operator (detect.ts); it must throw CorruptError where they are not its own.
 */
import type { Cursor } from '../io/cursor.js';
import type { Versioned } from './bytes.js';
import type { Details, DetailsObject } from './details.js';

/** One split of a source, as a reader or an enumerator holds it. */
export interface Split {
  /** what SourceSplit.splitId() gives, where the bytes tell it */
  readonly splitId: string | null;
  readonly topic?: string | null;
  readonly partition?: number | null;
  /** first record not yet read */
  readonly next?: bigint | null;
  /** as the file has it: with sentinels */
  readonly stored?: bigint | null;
  readonly marker?: 'earliest' | 'latest' | 'committed' | null;
  readonly stop?: bigint | null;
  readonly details: DetailsObject;
  /** the connector, where the format alone does not tell it (Flink CDC's common base); null: not even the format is right */
  readonly connector?: string | null;
  /** a split of another source inside (HybridSource) */
  readonly wrapped?: { readonly source: number; readonly version: number; readonly bytes: Uint8Array };
}

export interface EnumeratorSplit {
  readonly holder: 'enumerator-assigned' | 'enumerator-unassigned';
  readonly split: Split;
}
export interface Enumerator {
  readonly splits: readonly EnumeratorSplit[];
  /** what it knows besides */
  readonly facts?: DetailsObject;
  readonly connector?: string;
  readonly wrapped?: { readonly source: number; readonly version: number; readonly bytes: Uint8Array };
}

/** first and last version of a serializer */
export type Versions = readonly [first: number, last: number];

export interface SourceFormat {
  readonly connector: string;
  /** names of operators that speak for it, where two formats fit */
  readonly hint: RegExp;
  readonly splitVersions: Versions;
  readSplit(c: Cursor, version: number): Split;
  readonly enumeratorVersions: Versions;
  readEnumerator(c: Cursor, version: number): Enumerator;
}

/** A transaction, a file, or what else a sink will commit or go on with. */
export interface SinkItem {
  readonly checkpointId?: bigint | null;
  readonly transactionId?: string | null;
  readonly producerId?: bigint | null;
  readonly epoch?: number | null;
  /** `writer`, `in-progress`, `pending`, `pre-committed`, `buffered` … */
  readonly state?: string;
  readonly connector?: string;
  readonly details: Details;
}

export interface SinkFormat {
  readonly connector: string;
  readonly hint: RegExp;
  /** undefined: such sinks have no writer state */
  readonly writer?: { readonly versions: Versions; read(c: Cursor, version: number): readonly SinkItem[] };
  readonly committable?: { readonly versions: Versions; read(c: Cursor, version: number): SinkItem };
  /** Whether these bytes, though they fit, could be of anything: then a name has to speak for it. */
  weak?(part: 'writer' | 'committable', entries: readonly Versioned[]): boolean;
}

export function within(version: number, versions: Versions | undefined): boolean {
  return versions !== undefined && version >= versions[0] && version <= versions[1];
}
