/**
 * An opened snapshot: metadata, files, names of operators, and the states that their headers register.
 *
 * Opening reads `_metadata` and nothing else. Headers are read when a table asks for the states of an operator.
 */
import { statSync } from 'node:fs';
import { type Rebase, SnapshotFiles } from '../checkpoint/files.js';
import type { Metadata } from '../checkpoint/handles.js';
import { locateSnapshot } from '../checkpoint/locate.js';
import { readMetadataFile } from '../checkpoint/metadata.js';
import type { StateQueryError } from '../errors.js';
import { ReadStats } from '../io/source.js';
import type { ClassPool, CodecContext } from '../serializers/codec.js';
import type { StateContext } from '../state/entry.js';
import { catalogOf } from './catalog.js';
import { type SnapshotFacts, snapshotFacts } from './facts.js';
import { operatorHint } from './hint.js';
import type { PumpContext } from './keyed-rows.js';
import { nameOperators, type OperatorNames } from './names.js';
import {
  type KeyedPart,
  type OperatorPart,
  type OperatorStates,
  type OperatorView,
  readOperatorStates,
  type StateVariant,
} from './states.js';
import type { Catalog } from './table.js';

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
  /** false: filters are not used to read less (for tests) */
  readonly pushdown?: boolean;
  /** One line for the user. */
  readonly warn?: (message: string) => void;
  readonly stats?: ReadStats;
}

/** `--ttl [operator.]state=DURATION` */
export interface TtlSetting {
  /** uid, name or id; undefined: any operator */
  readonly operator?: string;
  readonly state: string;
  readonly millis: bigint;
}

/** Opens a snapshot: a directory with `_metadata`, that file, or a parent directory. @throws StateQueryError */
export function openSnapshot(path: string, options: OpenOptions = {}): OpenedSnapshot {
  const stats = options.stats ?? new ReadStats();
  const located = locateSnapshot(path);
  if (located.note !== undefined) options.warn?.(located.note);
  const metadata = readMetadataFile(located.metadataPath, stats);
  return new OpenedSnapshot(located.directory, located.metadataPath, metadata, options, stats);
}

export class OpenedSnapshot {
  readonly operators: readonly OperatorView[];
  readonly files: SnapshotFiles;
  readonly catalog: Catalog;
  readonly pumpContext: PumpContext;
  readonly pushdown: boolean;
  readonly asOfMillis: bigint;
  /** what --skip-damaged passed over */
  readonly damage: StateQueryError[] = [];
  private readonly states = new Map<OperatorView, OperatorStates>();
  private readonly warned = new Set<string>();

  constructor(
    readonly directory: string,
    readonly metadataPath: string,
    readonly metadata: Metadata,
    readonly options: OpenOptions,
    readonly stats: ReadStats,
  ) {
    this.files = new SnapshotFiles(directory, metadataPath, { rebase: options.rebase ?? [], stats });
    this.operators = nameOperators(metadata, options.names);
    this.pushdown = options.pushdown ?? true;
    this.asOfMillis = options.asOfMillis ?? BigInt(Date.now());
    this.catalog = catalogOf(this);
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
    this.warn('times finer than microseconds are cut in TIMESTAMP and TIMESTAMPTZ columns; value_json of keyed_state_raw has them whole');

  /** Registered states of an operator. Headers are read on the first call. */
  statesOf(operator: OperatorView): OperatorStates {
    let states = this.states.get(operator);
    if (states === undefined) {
      states = readOperatorStates(operator, (o, subtask) => this.context(o, subtask));
      this.states.set(operator, states);
    }
    return states;
  }

  contextOf(part: KeyedPart | OperatorPart): StateContext {
    return this.context(part.operator, part.subtask);
  }

  private context(operator: OperatorView, subtask: number): StateContext {
    return {
      open: stream => this.files.open(stream),
      maxParallelism: operator.operator.maxParallelism,
      codecs: this.codecs,
      where: `operator ${operator.uid ?? operator.name ?? operator.id}, subtask ${subtask}`,
      verify: this.options.verify ?? true,
      warn: message => this.warn(message),
    };
  }

  /** Flink 2.0 brought metadata version 5; older versions are of 1.x. */
  get codecs(): CodecContext {
    return {
      flinkMajor: this.metadata.version >= 5 ? 2 : 1,
      ...(this.options.classes === undefined ? {} : { classes: this.options.classes }),
    };
  }

  /** The TTL duration given for a state, in milliseconds. */
  ttlOf(variant: StateVariant): bigint | undefined {
    const { id, uid, name } = variant.operator;
    const matching = (this.options.ttl ?? []).filter(
      t => t.state === variant.name && (t.operator === undefined || t.operator === id || t.operator === uid || t.operator === name),
    );
    return (matching.find(t => t.operator !== undefined) ?? matching[0])?.millis;
  }

  hintOf(operator: OperatorView): string | null {
    return operator.uid !== null || operator.name !== null ? null : operatorHint(this.statesOf(operator), operator);
  }

  coordinatorNote(_operator: OperatorView): string {
    return 'state of the operator coordinator';
  }

  facts(): SnapshotFacts {
    return snapshotFacts(this, Math.floor(statSync(this.metadataPath).mtimeMs));
  }

  close(): void {
    this.files.close();
  }
}
