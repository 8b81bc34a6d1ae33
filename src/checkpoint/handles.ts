/**
 * State handles: what `_metadata` says of where state lies. Tags and layouts: `metadata.ts`, which reads them.
 * Flink: org.apache.flink.runtime.state.StreamStateHandle, KeyedStateHandle, OperatorStateHandle (1.20, 2.3).
 */

/** Bytes: inline, a file, or a part of a merged file. */
export type StreamHandle =
  | {
      /** ByteStreamStateHandle: the bytes stand in `_metadata` at `offset`; `name` is not a readable path */
      readonly kind: 'inline';
      readonly name: string;
      readonly bytes: Uint8Array;
      readonly offset: number;
    }
  | {
      /** FileStateHandle: absolute path */
      readonly kind: 'file';
      readonly path: string;
      /** bytes of the file; -1: Flink did not know */
      readonly size: number;
      /** set on changelog files: `size` is that of the changes before compression, without the file's first byte */
      readonly uncompressed?: true;
    }
  | {
      /** RelativeFileStateHandle */
      readonly kind: 'relative';
      readonly path: string;
      readonly size: number;
      readonly uncompressed?: true;
    }
  | {
      /** SegmentFileStateHandle: [start, start + size) of a merged file */
      readonly kind: 'segment';
      readonly path: string;
      readonly start: number;
      readonly size: number;
      readonly scope: 'EXCLUSIVE' | 'SHARED';
      readonly logicalFileId: string;
    }
  | { /** EmptySegmentFileStateHandle: no bytes */ readonly kind: 'empty-segment' }
  | { /** a KeyGroupsStateHandle used as a stream */ readonly kind: 'key-groups-stream'; readonly handle: KeyGroupsHandle };

/** Key groups [first, first + count). */
export interface KeyGroupRange {
  readonly first: number;
  readonly count: number;
}

export interface KeyGroupsHandle {
  readonly kind: 'key-groups';
  /** 3 and 12: KeyGroupsStateHandle, 7: KeyGroupsSavepointStateHandle (canonical format) */
  readonly tag: 3 | 7 | 12;
  readonly range: KeyGroupRange;
  /** a position in the stream for each key group; canonical: 0 = empty; raw keyed: -1 = not written */
  readonly offsets: readonly number[];
  readonly stream: StreamHandle;
  readonly stateHandleId?: string;
}

/** A file of a RocksDB or ForSt instance: its local name there (`000012.sst`) and where it lies now. */
export interface LocalFile {
  readonly localName: string;
  readonly stream: StreamHandle;
}

export interface IncrementalHandle {
  /** IncrementalRemoteKeyedStateHandle */
  readonly kind: 'incremental';
  readonly tag: 5 | 11;
  readonly checkpointId: number;
  readonly backendId: string;
  readonly range: KeyGroupRange;
  readonly checkpointedSize?: number;
  readonly meta: StreamHandle;
  readonly shared: readonly LocalFile[];
  readonly private: readonly LocalFile[];
  readonly stateHandleId?: string;
}

export interface ChangelogHandle {
  /** ChangelogStateBackendHandle */
  readonly kind: 'changelog';
  readonly tag: 8 | 14;
  readonly range: KeyGroupRange;
  readonly checkpointedSize?: number;
  readonly materialized: readonly KeyedHandle[];
  readonly nonMaterialized: readonly KeyedHandle[];
  readonly materializationId?: number;
  readonly checkpointId?: number;
  readonly stateHandleId?: string;
}

export interface ChangelogMemoryHandle {
  /** InMemoryChangelogStateHandle: change sets inline in `_metadata` */
  readonly kind: 'changelog-memory';
  readonly tag: 9;
  readonly range: KeyGroupRange;
  readonly from: number;
  readonly to: number;
  readonly changes: readonly { readonly keyGroup: number; readonly bytes: Uint8Array; readonly offset: number }[];
  readonly stateHandleId?: string;
}

export interface ChangelogStreamHandle {
  /** ChangelogStateHandleStreamImpl: (stream, offset) pairs, each one change set */
  readonly kind: 'changelog-stream';
  readonly tag: 10 | 13;
  readonly range: KeyGroupRange;
  readonly size: number;
  readonly checkpointedSize?: number;
  readonly parts: readonly { readonly offset: number; readonly stream: StreamHandle }[];
  readonly stateHandleId?: string;
  readonly storageIdentifier?: string;
}

export type KeyedHandle = KeyGroupsHandle | IncrementalHandle | ChangelogHandle | ChangelogMemoryHandle | ChangelogStreamHandle;

export type DistributionMode = 'SPLIT_DISTRIBUTE' | 'UNION' | 'BROADCAST';

export interface OperatorHandle {
  /** OperatorStreamStateHandle, FileMergingOperatorStreamStateHandle */
  readonly kind: 'operator';
  readonly tag: 4 | 17;
  readonly states: readonly { readonly name: string; readonly mode: DistributionMode; readonly offsets: readonly number[] }[];
  readonly stream: StreamHandle;
  readonly taskOwnedDir?: string;
  readonly sharedDir?: string;
  readonly empty?: boolean;
}

/** In-flight data of one channel. A merged entry (V6) gives one handle for each of its channels, all with the same `merged`. */
export interface ChannelHandle {
  readonly direction: 'input' | 'output';
  readonly subtaskIndex: number;
  /** input gate or result partition */
  readonly gateOrPartition: number;
  /** input channel or result subpartition */
  readonly channelIndex: number;
  readonly offsets: readonly number[];
  /** bytes of this channel's state, as the handle says */
  readonly size: number;
  /** the delegate: often one file for all channels, also of several subtasks */
  readonly stream: StreamHandle;
  /** Merged*StateHandle: the entry this channel came from, one object for all of its channels */
  readonly merged?: MergedChannels;
}

/** A MergedInputChannelStateHandle or MergedResultSubpartitionStateHandle (V6). */
export interface MergedChannels {
  /** bytes of all its channels, as the entry says: what counts as its size, once */
  readonly size: number;
  readonly channels: number;
}

export interface Subtask {
  readonly index: number;
  /** finished before the snapshot: it has no state */
  readonly finished: boolean;
  readonly managedOperator?: OperatorHandle;
  readonly rawOperator?: OperatorHandle;
  readonly managedKeyed?: KeyedHandle;
  readonly rawKeyed?: KeyedHandle;
  readonly channels: readonly ChannelHandle[];
  /** Flink 1.3 only: state of a 1.1-style operator, Java-serialized by the user's code */
  readonly legacy?: StreamHandle;
}

export interface Operator {
  /** 32 hex digits */
  readonly id: string;
  /** V5+ */
  readonly name?: string;
  /** V5+ */
  readonly uid?: string;
  readonly parallelism: number;
  readonly maxParallelism: number;
  readonly coordinator?: StreamHandle;
  readonly fullyFinished: boolean;
  readonly subtasks: readonly Subtask[];
  /** [start, end) of the operator in `_metadata` */
  readonly start: number;
  readonly end: number;
}

/** Layouts that share a version number (V3); undefined where nothing in the file depends on it. */
export interface MetadataLayout {
  /** `with-subtask` since 1.12, `without-subtask` in 1.11 */
  readonly channels?: 'with-subtask' | 'without-subtask';
  /** tags 8, 9 and 10: `1.14`, or `1.15` with sizes and ids */
  readonly changelog?: '1.14' | '1.15';
}

export interface MasterState {
  readonly name: string;
  readonly version: number;
  readonly bytes: Uint8Array;
  readonly offset: number;
}

export interface Metadata {
  readonly version: number;
  readonly checkpointId: number;
  readonly masterStates: readonly MasterState[];
  readonly operators: readonly Operator[];
  /** V4+: the Java-serialized CheckpointProperties; decoded lazily (`properties.ts`) */
  readonly properties?: { readonly bytes: Uint8Array; readonly offset: number };
  readonly layout: MetadataLayout;
  /** bytes of the file */
  readonly size: number;
}
