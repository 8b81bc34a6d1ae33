/**
 * An opened snapshot: metadata, files, names of operators, and the states that their headers register.
 *
 * Opening reads `_metadata` and nothing else. Headers are read when a table asks for the states of an operator.
 */
import { statSync } from 'node:fs';
import { type Rebase, SnapshotFiles } from '../checkpoint/files.js';
import { type FlinkVersions, flinkVersions } from '../checkpoint/flink-versions.js';
import type { Metadata } from '../checkpoint/handles.js';
import { locateSnapshot } from '../checkpoint/locate.js';
import { readMetadataFile } from '../checkpoint/metadata.js';
import { type TopologyId, topologyIds } from '../checkpoint/topology-ids.js';
import { StateQueryError, UsageError } from '../errors.js';
import { ReadStats } from '../io/source.js';
import type { OperatorNames } from '../names/operator-names.js';
import { KryoMessages, messageCodec } from '../proto/codec.js';
import type { ProtoSchemas } from '../proto/schema.js';
import type { ClassPool, CodecContext } from '../serializers/codec.js';
import type { StateContext } from '../state/entry.js';
import { sqlTypeText } from '../types.js';
import { catalogOf } from './catalog.js';
import { type SnapshotFacts, snapshotFacts } from './facts.js';
import { operatorHint, topologyText } from './hint.js';
import type { PumpContext } from './keyed-rows.js';
import { nameOperators } from './names.js';
import type { PieceContext, ScanWorkers } from './pieces.js';
import {
  type KeyedPart,
  type OperatorStates,
  type OperatorView,
  readOperatorStates,
  type StateVariant,
  type ValueCodecs,
} from './states.js';
import type { Catalog } from './table.js';
import { tellUnusedSettings } from './unused-settings.js';
import { serializerEvidence } from './version-evidence.js';

export interface OpenOptions {
  /** path prefixes, `old=new` */
  readonly rebase?: readonly Rebase[];
  /** names of operators from outside the snapshot */
  readonly names?: OperatorNames;
  /** TTL durations in milliseconds by state: see ttlOf */
  readonly ttl?: readonly TtlSetting[];
  /** the moment that ttl_expired is about, ms since 1970; now when left out */
  readonly asOfMillis?: bigint;
  /** false: block checksums are not computed */
  readonly verify?: boolean;
  readonly skipDamaged?: boolean;
  readonly classes?: ClassPool;
  /** messages of .proto files: what Kryo stored by their classes, and the states that hold one in a byte[] */
  readonly proto?: { readonly schemas: ProtoSchemas; readonly types: readonly ProtoSetting[] };
  /** false: filters are not used to read less (for tests) */
  readonly pushdown?: boolean;
  /** One line for the user. */
  readonly warn?: (message: string) => void;
  readonly stats?: ReadStats;
  /** threads for big scans; they are ended with the snapshot */
  readonly workers?: ScanWorkers;
}

/** `--ttl [operator.]state=DURATION` */
export interface TtlSetting {
  /** uid, name or id; undefined: any operator */
  readonly operator?: string;
  readonly state: string;
  readonly millis: bigint;
}

/** `--proto-type [operator.]state=Message` */
export interface ProtoSetting {
  /** uid, name or id; undefined: any operator */
  readonly operator?: string;
  readonly state: string;
  /** full name of the message, or the end of it */
  readonly message: string;
}

/** Opens a snapshot: a directory with `_metadata`, that file, or a parent directory. @throws StateQueryError */
export function openSnapshot(path: string, options: OpenOptions = {}): OpenedSnapshot {
  const stats = options.stats ?? new ReadStats();
  const located = locateSnapshot(path);
  if (located.note !== undefined) options.warn?.(located.note);
  const metadata = readMetadataFile(located.metadataPath, stats);
  const snapshot = new OpenedSnapshot(located.directory, located.metadataPath, metadata, options, stats);
  if (options.warn !== undefined) tellUnusedSettings(snapshot);
  return snapshot;
}

export class OpenedSnapshot {
  readonly operators: readonly OperatorView[];
  readonly files: SnapshotFiles;
  readonly catalog: Catalog;
  readonly pumpContext: PumpContext;
  readonly pieceContext: PieceContext;
  readonly pushdown: boolean;
  readonly asOfMillis: bigint;
  /** what --skip-damaged passed over */
  readonly damage: StateQueryError[] = [];
  private readonly states = new Map<OperatorView, OperatorStates>();
  private readonly warned = new Set<string>();
  private topology: Map<string, TopologyId> | undefined;
  private readonly kryoMessages: KryoMessages | undefined;

  constructor(
    readonly directory: string,
    readonly metadataPath: string,
    readonly metadata: Metadata,
    readonly options: OpenOptions,
    readonly stats: ReadStats,
  ) {
    this.files = new SnapshotFiles(directory, metadataPath, { rebase: options.rebase ?? [], stats });
    this.operators = nameOperators(metadata, options.names);
    this.kryoMessages = options.proto === undefined ? undefined : new KryoMessages(options.proto.schemas);
    this.pushdown = options.pushdown ?? true;
    this.asOfMillis = options.asOfMillis ?? BigInt(Date.now());
    this.catalog = catalogOf(this);
    this.pieceContext = {
      workers: options.workers,
      stats,
      skipDamaged: options.skipDamaged === true,
      warn: message => this.warn(message),
    };
    this.pumpContext = {
      contextOf: part => this.contextOf(part),
      stats,
      skipDamaged: options.skipDamaged === true,
      damaged: error => {
        this.damage.push(error);
        if (this.damage.length <= 10) this.warn(`passed over: ${error.describe()}`);
      },
    };
  }

  /** One line for the user, once. */
  warn(message: string): void {
    if (this.warned.has(message)) return;
    this.warned.add(message);
    this.options.warn?.(message);
  }

  readonly timesCut = (): void =>
    this.warn(
      'times finer than microseconds are cut in TIMESTAMP and TIMESTAMPTZ columns, for groups, joins and sorting too; value_json of keyed_state_raw has them whole',
    );

  /** Registered states of an operator. Headers are read on the first call. */
  statesOf(operator: OperatorView): OperatorStates {
    let states = this.states.get(operator);
    if (states === undefined) {
      states = readOperatorStates(operator, (o, subtask) => this.context(o, subtask), this.valueCodecs);
      this.states.set(operator, states);
    }
    return states;
  }

  /** What the readers of a subtask's state need. */
  contextOf(part: Pick<KeyedPart, 'operator' | 'subtask'>): StateContext {
    return this.context(part.operator, part.subtask);
  }

  private context(operator: OperatorView, subtask: number): StateContext {
    const where = `operator ${operator.uid ?? operator.name ?? operator.id}, subtask ${subtask}`;
    return {
      open: stream => {
        try {
          return this.files.open(stream);
        } catch (error) {
          throw error instanceof StateQueryError ? error.with({ where }) : error;
        }
      },
      maxParallelism: operator.operator.maxParallelism,
      codecs: this.codecs,
      where,
      verify: this.options.verify ?? true,
      warn: message => this.warn(message),
    };
  }

  /** Flink 2.0 brought metadata version 5; older versions are of 1.x. */
  get codecs(): CodecContext {
    return {
      flinkMajor: this.metadata.version >= 5 ? 2 : 1,
      ...(this.options.classes === undefined ? {} : { classes: this.options.classes }),
      ...(this.kryoMessages === undefined ? {} : { protobuf: this.kryoMessages.json }),
    };
  }

  /** Values that are protobuf messages, by what the user says of a state and by the class that Kryo stored. */
  private get valueCodecs(): ValueCodecs | undefined {
    const { proto } = this.options;
    if (proto === undefined) return undefined;
    return (operator, state) => (codec, snapshot) => {
      const setting = matching(proto.types, operator, state);
      if (setting === undefined) return this.kryoMessages?.codec(codec, snapshot) ?? codec;
      const message = proto.schemas.message(setting.message);
      if (message === undefined)
        throw new UsageError(`there is no message ${setting.message} in the .proto files`, {
          hint: `they have ${proto.schemas.names.slice(0, 20).join(', ')}`,
        });
      if (codec.type.kind === 'BLOB') return messageCodec(codec, message);
      const kryo = this.kryoMessages?.codec(codec, snapshot);
      if (kryo !== undefined) return kryo;
      this.warn(`--proto-type ${setting.state}=${setting.message}: the state holds ${sqlTypeText(codec.type)}, no bytes`);
      return codec;
    };
  }

  /** The TTL duration given for a state, or written in its descriptor, in milliseconds. */
  ttlOf(variant: StateVariant): bigint | undefined {
    const given = matching(this.options.ttl ?? [], variant.operator, variant.name);
    if (given !== undefined) return given.millis;
    for (const naming of variant.operator.namings) {
      const millis = naming.ttlMillis?.(variant);
      if (millis !== undefined) return millis;
    }
    const { ttlMillis } = variant.registered;
    return ttlMillis === undefined ? undefined : BigInt(ttlMillis);
  }

  /** What an operator without a name likely is. */
  hintOf(operator: OperatorView): string | null {
    return operator.uid !== null || operator.name !== null ? null : operatorHint(this.statesOf(operator), operator);
  }

  /** What the id of an operator without a uid tells of its place in the job graph; null where nothing. */
  topologyOf(operator: OperatorView): string | null {
    if (operator.uid !== null) return null;
    this.topology ??= topologyIds(
      this.operators.map(o => o.id),
      new Set(this.operators.flatMap(o => (o.uid === null ? [] : [o.id]))),
    );
    const place = this.topology.get(operator.id);
    const labels = new Map(this.operators.map(o => [o.id, o.uid ?? o.name ?? o.id]));
    return place === undefined ? null : topologyText(place, id => labels.get(id) ?? id);
  }

  /** The range of Flink releases, narrowed by the serializers. Reads the headers of all operators. */
  flinkVersions(): FlinkVersions {
    return flinkVersions(this.metadata, serializerEvidence(this.operators.flatMap(o => this.statesOf(o).variants)));
  }

  facts(): SnapshotFacts {
    return snapshotFacts(this, Math.floor(statSync(this.metadataPath).mtimeMs));
  }

  close(): void {
    this.options.workers?.close();
    this.files.close();
  }
}

/** The setting for a state; one that names the operator counts before one for all. */
function matching<T extends { readonly operator?: string; readonly state: string }>(
  settings: readonly T[],
  { id, uid, name }: OperatorView,
  state: string,
): T | undefined {
  const found = settings.filter(
    t => t.state === state && (t.operator === undefined || t.operator === id || t.operator === uid || t.operator === name),
  );
  return found.find(t => t.operator !== undefined) ?? found[0];
}
