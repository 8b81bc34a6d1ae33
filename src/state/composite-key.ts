/**
 * Composite keys: what canonical savepoints, RocksDB and ForSt store an entry under.
 *
 *   keyed   key group (1 or 2 bytes) · key · [length of key] · namespace · [length of namespace] · [MAP: map key]
 *   timer   key group                · i64 timestamp with the sign bit flipped · key · namespace
 *
 * The lengths are there only when the serializers of key and namespace both have no fixed length (getLength() < 0). They
 * stand behind what they measure: low byte first, at least one byte, ending with the last byte that is not zero. The void
 * namespace declares length 0 and writes one byte.
 *
 * Flink: SerializedCompositeKeyBuilder, CompositeKeySerializationUtils, TimerSerializer (1.8–2.3).
 */
import { CorruptError, StateQueryError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import type { SerializerSnapshot } from '../serializers/codec.js';
import type { RegisteredState, StateContext } from './entry.js';
import { codecsOf, type StateCodecs, wireSize } from './state-codecs.js';

/** Bytes of the key group in front of a composite key. CompositeKeySerializationUtils.computeRequiredBytesInKeyGroupPrefix */
export function keyGroupBytes(maxParallelism: number): 1 | 2 {
  return maxParallelism > 128 ? 2 : 1;
}

/** Keys longer than this whose end is not known are not searched for it. */
const MAX_SEARCH = 1 << 14;

/** Splits the composite keys of one state. The fields are overwritten by split(). */
export class CompositeKey {
  keyStart = 0;
  keyEnd = 0;
  namespaceStart = 0;
  namespaceEnd = 0;
  userKeyStart = 0;
  userKeyEnd = 0;
  /** why the last key could not be split: what could not be told apart stands in the first part, the later ones are empty */
  unsplit: string | undefined;
  readonly isTimer: boolean;
  private readonly isMap: boolean;
  private readonly lengths: boolean;
  private readonly keySize: number;
  private readonly namespaceSize: number;
  /** the namespace is one byte that has to be 0 */
  private readonly isVoid: boolean;
  private readonly cursor: Cursor;

  constructor(
    readonly state: RegisteredState,
    readonly codecs: StateCodecs,
    origin: { readonly file?: string; readonly where?: string } = {},
  ) {
    this.isTimer = state.kind === 'timer';
    this.isMap = state.kind === 'keyed' && state.stateType === 'MAP';
    this.lengths = !this.isTimer && codecs.key.length < 0 && codecs.namespace.length < 0;
    this.keySize = wireSize(codecs.key);
    this.namespaceSize = wireSize(codecs.namespace);
    this.isVoid = this.namespaceSize === 1 && codecs.namespace.length === 0;
    this.cursor = new Cursor(new Uint8Array(0), 0, 0, origin);
  }

  /**
   * Splits bytes[start, end): a composite key without its key group.
   * @param base file offset of bytes[0], for errors
   * @throws CorruptError unless the parts end exactly at `end`
   */
  split(bytes: Uint8Array, start: number, end: number, base = 0): void {
    const { namespaceSize } = this;
    // a namespace of fixed length at the end leaves the key in front of it: whoever decodes the key sees whether it ends there
    if (namespaceSize > 0 && !this.isMap) {
      const keyStart = this.isTimer ? start + 8 : start;
      const namespaceStart = end - namespaceSize;
      if (this.keySize > 0 ? namespaceStart === keyStart + this.keySize : namespaceStart >= keyStart) {
        this.keyStart = keyStart;
        this.keyEnd = namespaceStart;
        this.namespaceStart = namespaceStart;
        this.namespaceEnd = end;
        this.userKeyStart = this.isTimer ? start : end;
        this.userKeyEnd = end;
        this.unsplit = undefined;
        if (this.isVoid && bytes[namespaceStart] !== 0) this.splitSlowly(bytes, start, end, base);
        return;
      }
    }
    this.splitSlowly(bytes, start, end, base);
  }

  private splitSlowly(bytes: Uint8Array, start: number, end: number, base: number): void {
    const c = this.cursor.reset(bytes, start, end, Math.max(0, base));
    this.unsplit = undefined;
    this.userKeyStart = start;
    if (this.isTimer) c.take(8, 'timestamp of the timer');
    this.keyStart = c.position;
    if (this.keySize > 0) c.take(this.keySize, 'key');
    else this.codecs.key.skip(c);
    // an opaque key takes what it is given
    if (c.position === end && this.codecs.key.unbounded === true) this.splitUnknown(c);
    else this.finish(c, c.position);
  }

  /** Takes what follows a key that ends at `keyEnd`; @throws unless it ends exactly at the cursor's end. */
  private finish(c: Cursor, keyEnd: number): void {
    this.keyEnd = keyEnd;
    c.position = keyEnd;
    if (this.lengths) takeLength(c, keyEnd - this.keyStart, 'key');
    this.namespaceStart = c.position;
    if (this.namespaceSize > 0) {
      const at = c.take(this.namespaceSize, 'namespace');
      if (this.isVoid && c.bytes[at] !== 0) c.fail(`the void namespace is ${c.bytes[at]}, expected 0`, at);
    } else {
      this.codecs.namespace.skip(c);
      if (c.position === c.end && this.codecs.namespace.unbounded === true) {
        this.finishUnknown(c);
        return;
      }
    }
    this.finishBehind(c, c.position);
  }

  /** Takes what follows a namespace that ends at `namespaceEnd`. */
  private finishBehind(c: Cursor, namespaceEnd: number): void {
    this.namespaceEnd = namespaceEnd;
    c.position = namespaceEnd;
    if (this.lengths) takeLength(c, namespaceEnd - this.namespaceStart, 'namespace');
    if (this.isTimer) {
      this.userKeyEnd = c.end;
    } else {
      this.userKeyStart = c.position;
      if (this.isMap) this.codecs.mapKey?.skip(c);
      this.userKeyEnd = c.position;
    }
    if (c.position !== c.end) c.expectEnd(this.isTimer ? 'the timer' : this.isMap ? 'the map key' : 'the namespace');
  }

  /** The namespace's own end is not known: as for keys. */
  private finishUnknown(c: Cursor): void {
    const found = onlyFit(this.isMap || this.lengths ? this.namespaceStart : c.end, c.end, at => this.finishBehind(c, at));
    if (found >= 0) {
      this.finishBehind(c, found);
      return;
    }
    this.unsplit = `where the namespace ends is not known: ${this.codecs.namespace.opaque ?? 'its serializer is opaque'}`;
    this.namespaceEnd = c.end;
    if (!this.isTimer) this.userKeyStart = c.end;
    this.userKeyEnd = c.end;
  }

  /** The key's own end is not known: each length is tried. */
  private splitUnknown(c: Cursor): void {
    const { keyStart, namespaceSize, userKeyStart } = this;
    const { end } = c;
    const last = namespaceSize < 0 ? end : end - namespaceSize;
    // with a namespace that takes everything, every length fits
    const hopeless = this.codecs.namespace.unbounded === true;
    const from = this.isMap || this.lengths || namespaceSize < 0 ? keyStart : Math.max(keyStart, last);
    const found = hopeless ? -1 : onlyFit(from, last, at => this.finish(c, at));
    this.unsplit = undefined;
    this.userKeyStart = userKeyStart;
    if (found >= 0) {
      this.finish(c, found);
      return;
    }
    this.unsplit = `where the key ends is not known: ${this.codecs.key.opaque ?? 'its serializer is opaque'}`;
    this.keyEnd = end;
    this.namespaceStart = end;
    this.namespaceEnd = end;
    if (!this.isTimer) this.userKeyStart = end;
    this.userKeyEnd = end;
  }
}

/**
 * The one position in [from, to] for which `take` does not throw, -1 when there are several or none. The right one always
 * fits, so if only one does, it is right.
 */
function onlyFit(from: number, to: number, take: (at: number) => void): number {
  if (to - from > MAX_SEARCH) return -1;
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  let found = -1;
  try {
    for (let at = from; at <= to; at++) {
      try {
        take(at);
      } catch (error) {
        if (error instanceof StateQueryError) continue;
        throw error;
      }
      if (found >= 0) return -1;
      found = at;
    }
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return found;
}

/** Steps over the length of a part, which must be `length`. */
function takeLength(c: Cursor, length: number, what: string): void {
  let rest = length;
  do {
    const at = c.take(1, `length of the ${what}`);
    if (c.bytes[at] !== (rest & 0xff))
      throw new CorruptError(`length behind the ${what} does not say ${length}`, { ...c.origin, offset: c.base + at });
    rest >>>= 8;
  } while (rest !== 0);
}

/** A splitter for each state of a header, made when it is first asked for. */
export class CompositeKeys {
  private readonly made: (CompositeKey | undefined)[] = [];
  constructor(
    private readonly header: { readonly key: SerializerSnapshot; readonly states: readonly RegisteredState[] },
    private readonly context: StateContext,
    private readonly file?: string,
  ) {}
  /** @param id RegisteredState.id */
  of(id: number): CompositeKey {
    let splitter = this.made[id];
    if (splitter === undefined) {
      const state = this.header.states[id];
      splitter = new CompositeKey(state, codecsOf(this.header.key, state, this.context.codecs), {
        ...(this.file === undefined ? {} : { file: this.file }),
        where: `${this.context.where}, state ${state.name}`,
      });
      this.made[id] = splitter;
    }
    return splitter;
  }
}
