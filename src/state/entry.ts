/**
 * What a state backend wrote, as a stream of entries: one interface over canonical files, heap files, RocksDB and changelogs.
 *
 * An entry is one stored pair. What stands in `value` depends on the reader's `layout` and the state's type:
 *
 *   layout       VALUE REDUCING AGGREGATING    LIST                                  MAP                            timer
 *   composite    the value                     elements joined by one byte 0x2C      bool isNull + value, one        value empty; the timer is
 *                                                                                    entry a map key (userKey)       in [userKeyStart, userKeyEnd)
 *   heap         the value                     i32 n + n elements                    i32 n + n × (key, isNull,       the same
 *                                                                                    [value]): the whole map
 *
 * `composite` is what canonical savepoints, RocksDB and ForSt have; `heap` what heap-native snapshots and replayed changelogs over them have.
 * With TTL every value, list element and map value has an i64 of milliseconds in front (its codec is the TTL serializer's).
 */
import type { StreamHandle } from '../checkpoint/handles.js';
import type { ByteSource } from '../io/source.js';
import type { CodecContext, SerializerSnapshot } from '../serializers/codec.js';

/** What the readers of state need from the snapshot they belong to. */
export interface StateContext {
  /** Opens the bytes behind a handle; the caller closes the source. @throws NotFoundError with what was tried */
  open(stream: StreamHandle): ByteSource;
  /** of the operator: decides the 1 or 2 bytes of key-group prefixes */
  readonly maxParallelism: number;
  readonly codecs: CodecContext;
  /** `operator 8409ef… (my-uid), subtask 2`: goes into errors */
  readonly where: string;
  /** false with --no-verify: block checksums are not computed */
  readonly verify: boolean;
  /** One line for the user (stderr). */
  warn(message: string): void;
}

export type RegisteredKind = 'keyed' | 'timer' | 'operator' | 'broadcast';
export type KeyedStateType = 'UNKNOWN' | 'VALUE' | 'LIST' | 'REDUCING' | 'FOLDING' | 'AGGREGATING' | 'MAP';

/** StateMetaInfoSnapshot of keyed or operator state, as registered in a state file's header. */
export interface RegisteredState {
  /** position in the header: the state id that entries carry */
  readonly id: number;
  readonly name: string;
  readonly kind: RegisteredKind;
  /** BackendStateType ordinal 4 (KEY_VALUE_V2, asynchronous state of 2.x): list and map serializers are those of the element or map value */
  readonly v2: boolean;
  /** KEYED_STATE_TYPE option, as written */
  readonly stateType?: KeyedStateType;
  /** OPERATOR_STATE_DISTRIBUTION_MODE option */
  readonly mode?: 'SPLIT_DISTRIBUTE' | 'UNION' | 'BROADCAST';
  readonly key?: SerializerSnapshot;
  readonly namespace?: SerializerSnapshot;
  readonly value?: SerializerSnapshot;
  readonly userKey?: SerializerSnapshot;
  /** the state's time to live, where it is written (changelogs only) */
  readonly ttlMillis?: number;
  /** why a serializer could not be read, when the header had to be re-synchronised past it */
  readonly unreadable?: string;
}

export interface KeyedHeader {
  /** KeyedBackendSerializationProxy version */
  readonly version: number;
  /** snappy-compressed key groups */
  readonly compressed: boolean;
  readonly key: SerializerSnapshot;
  /** set when the file does not have the key serializer (a changelog without a base): how `key` was found, or why it was not */
  readonly keyGuess?: string;
  readonly states: readonly RegisteredState[];
  /** bytes of the header */
  readonly size: number;
}

export interface EntryFilter {
  /** state ids wanted; undefined: all */
  readonly states?: ReadonlySet<number>;
  /** key groups wanted; undefined: all of the handle's range */
  readonly keyGroups?: ReadonlySet<number>;
  /** serialized keys (bytes of the key serializer alone), any of which an entry must have; undefined: all. Exact. */
  readonly keys?: readonly Uint8Array[];
  /** the one key group that a key of `keys` can lie in; undefined: not known. May spare a reader the others. */
  readonly keyGroupOf?: (key: Uint8Array) => number | undefined;
  /** what is needed of each entry; a reader may leave the value range empty when `values` is false */
  readonly values?: boolean;
  /** false: only state, key group and value are wanted (counts); key, namespace and map key may be left unsplit and empty */
  readonly split?: boolean;
}

/**
 * A cursor over entries. Fields are overwritten by next(); `bytes` is valid until then. The entries of one state in one key
 * group stand together; files have key groups in ascending order with the states inside, RocksDB has states with the key
 * groups inside, and what only a changelog holds comes behind those of its base.
 */
export interface EntryCursor {
  /** @throws CorruptError: the frame of the entries is broken, the cursor cannot go on */
  next(): boolean;
  /** RegisteredState.id */
  readonly state: number;
  readonly keyGroup: number;
  readonly bytes: Uint8Array;
  /** file offset of bytes[0] and the file, for errors; -1 when the bytes are not contiguous in a file (merged, decompressed) */
  readonly base: number;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly namespaceStart: number;
  readonly namespaceEnd: number;
  /** MAP in composite layout: the map key; timer: the whole timer (i64 flipped timestamp, key, namespace); otherwise empty */
  readonly userKeyStart: number;
  readonly userKeyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  /** set when the bytes [valueStart, valueEnd) could not be split into entries (an opaque serializer in a heap file): the reason */
  readonly unsplit?: string;
  /**
   * set when key, namespace and map key could not be told apart (an opaque serializer of the key or the namespace): the
   * reason. Bytes that could not be told apart stand in the range of the first of them, the later ranges are empty.
   */
  readonly unsplitKey?: string;
  /**
   * Passes over the next entries without showing them, and without a look at what is in them: what counting needs.
   * @returns how many, at most `limit`; 0 at the end
   */
  skip?(limit: number): number;
  /** With `split: false`: splits the key of the current entry after all (for messages). */
  splitNow?(): void;
  close(): void;
}

/** Some of the entries of a reader: those of some states in the key groups [first, last]. */
export interface EntryRange {
  readonly states: readonly number[];
  readonly first: number;
  readonly last: number;
  /** about how many bytes of files they take */
  readonly bytes: number;
}

/** One opened keyed state handle. */
export interface KeyedStateReader {
  readonly header: KeyedHeader;
  readonly layout: 'composite' | 'heap';
  /** `canonical`, `hashmap`, `rocksdb`, `forst`, `changelog` */
  readonly backend: string;
  entries(filter: EntryFilter): EntryCursor;
  /**
   * Ranges of about `bytes` each (a key group is not divided) that can be read one by one: their entries, in this order, are those of
   * `entries(filter)`, and so is what is found damaged. Undefined: not to be divided.
   */
  ranges?(filter: EntryFilter, bytes: number): readonly EntryRange[] | undefined;
  /**
   * Changelogs: what the state of these ids lacks because only the job's own code could make it, in words. Reads all changes.
   */
  unresolved?(): ReadonlyMap<number, string>;
  close(): void;
}

export interface OperatorHeader {
  /** OperatorBackendSerializationProxy version */
  readonly version: number;
  readonly compressed: boolean;
  readonly states: readonly RegisteredState[];
  readonly size: number;
}

/** One element of operator list state, or one map entry of broadcast state, still as bytes. */
export interface OperatorElement {
  readonly index: number;
  readonly bytes: Uint8Array;
  readonly base: number;
  readonly start: number;
  readonly end: number;
  /** broadcast: the value's range (start..end is the key's) */
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly unsplit?: string;
}

export interface OperatorStateReader {
  readonly header: OperatorHeader;
  /** Elements of one state in stored order. The yielded object is reused. */
  elements(state: RegisteredState): Iterable<OperatorElement>;
  close(): void;
}
