/**
 * Reading a snapshot to its end: every file there and of the right length, every block with its checksum, every entry walked, every value
 * stepped over to its last byte.
 *
 *   files        present and as long as their handles say
 *   tables       block checksums, order and number of entries, index, filter, range deletions; each file once
 *   keyed        all entries of all states (tables: merged; changelogs: replayed); keys, namespaces, map keys, values
 *   operator     all elements and broadcast entries, in every subtask
 *   raw, channels, coordinators   to the last byte; channels element by element
 *
 * A finding says which file, and which operator, subtask and state lose what by it. What has no checksum (heap and canonical files without
 * compression) can only be seen to be damaged where it no longer has its form.
 */
import type { IncrementalHandle, KeyedHandle } from '../checkpoint/handles.js';
import { type ReferencedFile, referencedFiles, streamReferences } from '../checkpoint/references.js';
import { CorruptError, StateQueryError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import type { Codec } from '../serializers/codec.js';
import { compileSkipper } from '../serializers/wire.js';
import { checkTable } from '../sst/check.js';
import { openTable } from '../sst/table.js';
import { openChannel, openChannels } from '../state/channel.js';
import { openOperatorState } from '../state/open.js';
import { openRawKeyedState } from '../state/raw-keyed.js';
import { rawPartitions } from '../state/raw-operator.js';
import { BatchWriter } from './batch.js';
import { KeyedPump, type KeyedRow, type PumpContext, type VariantPlan } from './keyed-rows.js';
import type { OpenedSnapshot } from './snapshot.js';
import type { KeyedPart, OperatorStates, OperatorView, StateVariant } from './states.js';

export type Problem = 'missing' | 'short' | 'damaged' | 'unreadable' | 'unsupported';

export interface Finding {
  readonly problem: Problem;
  readonly file: string | undefined;
  readonly offset: number | undefined;
  /** undefined: of `_metadata` itself */
  readonly operator: OperatorView | undefined;
  /** -1: the coordinator */
  readonly subtask: number | undefined;
  readonly state: string | undefined;
  readonly message: string;
  /** what cannot be read because of it */
  readonly lost: string;
}

export interface Verified {
  readonly files: number;
  readonly bytes: number;
  readonly entries: number;
  readonly findings: readonly Finding[];
}

/** Steps between two yields. */
const STEPS = 512;

/**
 * Verifies an opened snapshot. The generator yields now and then, so that the caller can show progress or stop.
 * @throws what is no damage of the snapshot (bugs)
 */
export function* verifySnapshot(snapshot: OpenedSnapshot): Generator<undefined, Verified, undefined> {
  const verifier = new Verifier(snapshot);
  const files = referencedFiles(snapshot.metadata, snapshot.files);
  verifier.files(files);
  for (const view of snapshot.operators) {
    yield;
    const states = snapshot.statesOf(view);
    yield* verifier.tables(view);
    for (const part of states.keyed) yield* verifier.keyed(states, part);
    yield* verifier.operatorState(states);
    yield* verifier.raw(view);
  }
  yield* verifier.channels();
  return {
    files: files.length,
    bytes: files.reduce((total, file) => total + (file.size ?? 0), 0),
    entries: verifier.entries,
    findings: verifier.findings,
  };
}

class Verifier {
  readonly findings: Finding[] = [];
  entries = 0;
  private readonly cursor = new Cursor(new Uint8Array(0));
  /** files that are known not to be whole, by path: what else they lead to is not told again */
  private readonly broken = new Set<string>();
  private readonly told = new Set<string>();

  constructor(private readonly snapshot: OpenedSnapshot) {}

  private add(finding: Finding): void {
    const key = `${finding.file}\0${finding.offset}\0${finding.operator?.id}\0${finding.subtask}\0${finding.message}`;
    if (this.told.has(key)) return;
    this.told.add(key);
    this.findings.push(finding);
  }

  /** An error met on the way, unless it is what a broken file leads to. */
  private fail(error: unknown, operator: OperatorView, subtask: number, lost: string, state?: string): void {
    if (!(error instanceof StateQueryError) || error.exitCode < 3 || error.exitCode > 6) throw error;
    if (error.file !== undefined && this.broken.has(error.file)) return;
    const problems: Readonly<Record<number, Problem>> = { 3: 'missing', 4: 'unreadable', 5: 'damaged', 6: 'unsupported' };
    this.add({
      problem: problems[error.exitCode],
      file: error.file,
      offset: error.offset,
      operator,
      subtask,
      state: state ?? stateIn(error.where),
      message: error.message,
      lost,
    });
  }

  /** Present, and long enough. A row for each operator and subtask that uses the file. */
  files(files: readonly ReferencedFile[]): void {
    const broken = new Map<string, ReferencedFile>();
    for (const file of files) {
      if (file.present === true && !file.short) continue;
      broken.set(file.handlePath, file);
      this.broken.add(file.path ?? file.handlePath);
      this.broken.add(file.handlePath);
    }
    if (broken.size === 0) return;
    const views = new Map(this.snapshot.operators.map(o => [o.operator, o]));
    for (const reference of streamReferences(this.snapshot.metadata)) {
      const { stream, operator, subtask, role, localName } = reference;
      const path = 'path' in stream ? stream.path : undefined;
      const file = path === undefined ? undefined : broken.get(path);
      if (file === undefined) continue;
      this.add({
        problem: file.present === true ? 'short' : 'missing',
        file: file.path ?? file.handlePath,
        offset: file.present === true ? file.fileSize : undefined,
        operator: views.get(operator),
        subtask,
        state: undefined,
        message:
          file.present === true
            ? `the file has ${file.fileSize} bytes, its state handle says more`
            : file.present === undefined
              ? 'the file is on another file system, and there is no copy here'
              : 'the file is not there',
        lost: localName === undefined ? LOST[role] : `${LOST[role]} (${localName})`,
      });
    }
  }

  /** Tables by themselves: each block of them, needed or not. */
  *tables(view: OperatorView): Generator<undefined> {
    const checked = new Map<string, unknown>();
    for (const { index, managedKeyed } of view.operator.subtasks)
      for (const handle of incremental(managedKeyed))
        for (const { localName, stream } of [...handle.shared, ...handle.private]) {
          if (!localName.endsWith('.sst')) continue;
          yield;
          const context = this.snapshot.contextOf({ operator: view, subtask: index });
          const key = 'path' in stream ? `${stream.path}\0${'start' in stream ? stream.start : 0}` : `${index}\0${localName}`;
          let state: string | undefined;
          if (!checked.has(key)) {
            let failed: unknown;
            try {
              const source = context.open(stream);
              const table = openTable(source, { verify: context.verify, where: `${context.where}, ${localName}` });
              state = table.properties.columnFamily;
              checkTable(table);
            } catch (error) {
              failed = error;
            }
            checked.set(key, failed);
          }
          const failed = checked.get(key);
          if (failed !== undefined) this.fail(failed, view, index, `entries of the state in ${localName}`, state);
        }
  }

  /** Every entry of a keyed part, every value to its last byte. */
  *keyed(states: OperatorStates, part: KeyedPart): Generator<undefined> {
    const { snapshot } = this;
    const context: PumpContext = {
      ...snapshot.pumpContext,
      skipDamaged: true,
      damaged: error => this.fail(error, part.operator, part.subtask, 'entries of keyed state from here on, or this value'),
    };
    const plans = new Map<StateVariant, VariantPlan>();
    const writer = new BatchWriter([]);
    const pump = new KeyedPump(
      {
        operators: [{ ...states, keyed: [part] }],
        planOf: variant => {
          let plan = plans.get(variant);
          if (plan === undefined) {
            plan = { variant, fills: [Verifier.fillOf(variant)] };
            plans.set(variant, plan);
          }
          return plan;
        },
        filterOf: () => ({}),
        values: true,
        timers: true,
      },
      context,
      writer,
    );
    try {
      for (let steps = 1; pump.step(); steps++) {
        this.entries++;
        writer.clear();
        if (steps % STEPS === 0) yield;
      }
    } catch (error) {
      this.fail(error, part.operator, part.subtask, part.raw ? 'raw keyed state' : 'keyed state');
    } finally {
      pump.close();
    }
  }

  /** Sees to it that keys, namespaces, map keys and values of a state's rows end where they should. */
  private static fillOf({ shape }: StateVariant): (row: KeyedRow) => void {
    const key = wholePiece(shape.key, 'the key');
    const namespace = wholePiece(shape.namespace, 'the namespace');
    const mapKey = wholePiece(shape.mapKey, 'the map key');
    const value = wholePiece(shape.value, 'the value');
    return row => {
      const { entry, mapKeyStart } = row;
      if (entry.unsplitKey === undefined) {
        key(row, row.keyStart, row.keyEnd);
        namespace(row, row.namespaceStart, row.namespaceEnd);
      }
      if (entry.unsplit !== undefined || shape.form === 'timer') return;
      if (mapKeyStart >= 0) mapKey(row, mapKeyStart, row.mapKeyEnd);
      if (row.valueStart >= 0) value(row, row.valueStart, row.valueEnd);
    };
  }

  *operatorState(states: OperatorStates): Generator<undefined> {
    for (const part of states.managed) {
      yield;
      const lost = 'operator state of the subtask';
      try {
        const reader = openOperatorState(part.handle, this.snapshot.contextOf(part));
        try {
          for (const state of reader.header.states) {
            const variant = states.variantOf(undefined, state);
            if (variant === undefined) continue;
            const { shape, kind } = variant;
            for (const element of reader.elements(state)) {
              this.entries++;
              if (element.unsplit !== undefined) continue;
              const base = Math.max(0, element.base);
              const at = (start: number, end: number) => this.cursor.reset(element.bytes, start, end, base);
              try {
                stepOver(shape.mapKey, kind === 'broadcast' ? at(element.start, element.end) : undefined, 'the broadcast key');
                stepOver(
                  shape.value,
                  kind === 'broadcast' ? at(element.valueStart, element.valueEnd) : at(element.start, element.end),
                  'the element',
                );
              } catch (error) {
                this.fail(error, part.operator, part.subtask, `element ${element.index}`, state.name);
              }
            }
          }
        } finally {
          reader.close();
        }
      } catch (error) {
        this.fail(error, part.operator, part.subtask, lost);
      }
    }
  }

  /** Raw state, coordinators: readable to the last byte. */
  *raw(view: OperatorView): Generator<undefined> {
    for (const { index, rawKeyed, rawOperator, legacy } of view.operator.subtasks) {
      const context = this.snapshot.contextOf({ operator: view, subtask: index });
      yield;
      if (rawKeyed !== undefined)
        this.attempt(view, index, 'raw keyed state of the subtask', () => {
          const raw = openRawKeyedState(rawKeyed, context);
          try {
            if (raw.kind === 'bytes') for (const _ of raw.groups()) this.entries++;
          } finally {
            raw.close();
          }
        });
      if (rawOperator !== undefined)
        this.attempt(view, index, 'raw operator state of the subtask', () => {
          for (const _ of rawPartitions(rawOperator, context)) this.entries++;
        });
      if (legacy !== undefined)
        this.attempt(view, index, 'legacy operator state of the subtask', () => {
          const source = context.open(legacy);
          source.read(0, source.size);
        });
    }
  }

  private attempt(view: OperatorView, subtask: number, lost: string, read: () => void): void {
    try {
      read();
    } catch (error) {
      this.fail(error, view, subtask, lost);
    }
  }

  *channels(): Generator<undefined> {
    const all = this.snapshot.operators.flatMap(view =>
      view.operator.subtasks.flatMap(({ index, channels }) => {
        const context = this.snapshot.contextOf({ operator: view, subtask: index });
        return channels.map(handle => ({ view, subtask: index, handle, context }));
      }),
    );
    if (all.length === 0) return;
    let opened: ReturnType<typeof openChannels> | undefined;
    try {
      opened = openChannels(all);
    } catch (error) {
      if (!(error instanceof StateQueryError)) throw error;
    }
    try {
      for (let i = 0; i < all.length; i++) {
        yield;
        const { view, subtask, handle, context } = all[i];
        this.attempt(
          view,
          subtask,
          `data in flight of ${handle.direction} channel ${handle.gateOrPartition}/${handle.channelIndex}`,
          () => {
            const reader = opened?.[i] ?? openChannel(handle, context);
            for (const _ of reader.elements()) this.entries++;
            const size = reader.size + 4 * reader.buffers;
            // handles of bytes inside the metadata count the file's version as well
            if (handle.stream.kind !== 'inline' && size !== handle.size)
              throw new CorruptError(`the channel has ${size} bytes, its state handle says ${handle.size}`, { where: context.where });
          },
        );
      }
    } finally {
      for (const reader of opened ?? []) reader.close();
    }
  }
}

const LOST: Readonly<Record<string, string>> = {
  keyed: 'keyed state of the subtask',
  'raw-keyed': 'raw keyed state of the subtask',
  operator: 'operator state of the subtask',
  'raw-operator': 'raw operator state of the subtask',
  meta: 'all keyed state of the subtask: the header',
  shared: 'the states that have entries in this file',
  private: 'keyed state that needs this file',
  changelog: 'changes of keyed state since the last materialization',
  channel: 'data in flight',
  coordinator: 'state of the coordinator',
  legacy: 'legacy operator state',
};

function stepOver(codec: Codec | undefined, c: Cursor | undefined, what: string): void {
  if (codec === undefined || c === undefined) return;
  codec.skip(c);
  c.expectEnd(what);
}

/** Steps over a piece of a row and sees to it that it ends where it should. */
function wholePiece(codec: Codec | undefined, what: string): (row: KeyedRow, start: number, end: number) => void {
  if (codec === undefined) return () => undefined;
  const skip = compileSkipper(codec);
  return ({ entry, cursor }, start, end) => {
    const base = Math.max(0, entry.base);
    if (skip !== undefined && skip(entry.bytes, start, end, cursor, base) === end) return;
    codec.skip(cursor.reset(entry.bytes, start, end, base));
    cursor.expectEnd(what);
  };
}

/** `…, state NAME, …` of an error's place */
function stateIn(where: string | undefined): string | undefined {
  return where === undefined ? undefined : /, state (.+?)(?:, (?:key|key group|element) |$)/.exec(where)?.[1];
}

/** The RocksDB or ForSt instances in a handle. */
function* incremental(handle: KeyedHandle | undefined): Generator<IncrementalHandle> {
  if (handle?.kind === 'incremental') yield handle;
  if (handle?.kind === 'changelog') for (const inner of handle.materialized) yield* incremental(inner);
}
