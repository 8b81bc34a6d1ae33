/**
 * One entry of a heap-native file: namespace · key · value, or a timer, each part as long as its serializer says.
 *
 * A serializer whose values have no end of their own takes everything up to the cursor's end: the part is then `swallowed`,
 * and the reader of the file decides what that means. That a value can do so is said by its codec (`unbounded`), or seen when
 * it is decoded: it is then in partial form. Flink: CopyOnWriteStateTableSnapshot (1.8–2.3).
 */
import { CorruptError, StateQueryError, UnsupportedError } from '../errors.js';
import type { Cursor } from '../io/cursor.js';
import type { Codec, CodecContext, SerializerSnapshot } from '../serializers/codec.js';
import { JsonText, MapValue, Struct, type Value } from '../types.js';
import type { RegisteredState } from './entry.js';
import { codecsOf, wireSize } from './state-codecs.js';

export class HeapEntry {
  keyStart = 0;
  keyEnd = 0;
  namespaceStart = 0;
  namespaceEnd = 0;
  userKeyStart = 0;
  userKeyEnd = 0;
  valueStart = 0;
  valueEnd = 0;
  /** the part that took everything up to the cursor's end */
  swallowed: 'key' | 'namespace' | 'value' | undefined;
  /** why */
  reason = '';
  /** the part that is being stepped over */
  private current: 'key' | 'namespace' | 'value' = 'key';
  /** the value ended where the cursor does, which may be by chance: see `isPartial` */
  private suspect = false;
  /** the part that stands last in an entry */
  readonly lastPart: 'namespace' | 'value';
  /** the namespace is one byte that has to be 0 */
  private readonly isVoid: boolean;
  private readonly key: Part;
  private readonly namespace: Part;
  private readonly value: Part | undefined;

  constructor(key: SerializerSnapshot, state: RegisteredState, context: CodecContext) {
    const codecs = codecsOf(key, state, context);
    this.key = partOf(codecs.key);
    this.namespace = partOf(codecs.namespace);
    this.isVoid = this.namespace.size === 1 && codecs.namespace.length === 0;
    if (state.kind === 'timer') this.value = undefined;
    else if (codecs.value !== undefined) this.value = partOf(codecs.value);
    else if (codecs.element !== undefined) this.value = wholeOf(listOf(codecs.element));
    else this.value = wholeOf(mapOf(codecs.mapKey as Codec, codecs.mapValue as Codec));
    this.lastPart = this.value === undefined ? 'namespace' : 'value';
  }

  /** every part ends by itself */
  get bounded(): boolean {
    return !this.key.unbounded && !this.namespace.unbounded && this.value?.unbounded !== true;
  }

  /** `read` for step-over.ts: why a part took everything, if one did */
  readonly readFrom = (c: Cursor): string | undefined => {
    this.read(c);
    return this.swallowed === undefined ? undefined : this.reason;
  };

  /** Whether the entry at the cursor lies whole in its bytes and ends by itself; if not, the cursor has not moved for good. */
  tryRead(c: Cursor): boolean {
    const start = c.position;
    try {
      this.read(c);
      return this.swallowed === undefined;
    } catch (error) {
      if (!(error instanceof CorruptError)) throw error;
      c.position = start;
      return false;
    }
  }

  /** Reads the entry at the cursor and steps over it. @throws CorruptError, also when the cursor ends before the entry */
  read(c: Cursor): void {
    const start = c.position;
    this.swallowed = undefined;
    if (this.value === undefined) {
      c.take(8, 'timestamp of the timer');
      this.keyStart = c.position;
      this.step(c, this.key, 'key');
      this.keyEnd = c.position;
      this.namespaceStart = c.position;
      if (this.swallowed === undefined) this.step(c, this.namespace, 'namespace');
      this.namespaceEnd = c.position;
      this.userKeyStart = start;
      this.valueStart = c.position;
    } else {
      this.namespaceStart = start;
      this.step(c, this.namespace, 'namespace');
      this.namespaceEnd = c.position;
      this.keyStart = c.position;
      if (this.swallowed === undefined) this.step(c, this.key, 'key');
      this.keyEnd = c.position;
      this.valueStart = c.position;
      this.userKeyStart = c.position;
      this.userKeyEnd = c.position;
      if (this.swallowed === undefined) this.step(c, this.value, 'value');
    }
    this.valueEnd = c.position;
    this.userKeyEnd = this.value === undefined ? c.position : this.valueStart;
    if (c.position === start) c.fail('an entry of no bytes');
    if (c.position > c.end) c.fail(`an entry of ${c.position - start} bytes where ${c.end - start} remain`, start);
  }

  /** Ends all parts at `end` at the latest. */
  clamp(end: number): void {
    this.keyStart = Math.min(this.keyStart, end);
    this.keyEnd = Math.min(this.keyEnd, end);
    this.namespaceStart = Math.min(this.namespaceStart, end);
    this.namespaceEnd = Math.min(this.namespaceEnd, end);
    this.userKeyStart = Math.min(this.userKeyStart, end);
    this.userKeyEnd = Math.min(this.userKeyEnd, end);
    this.valueStart = Math.min(this.valueStart, end);
    this.valueEnd = Math.min(this.valueEnd, end);
  }

  private step(c: Cursor, part: Part, what: 'key' | 'namespace' | 'value'): void {
    const { size } = part;
    this.current = what;
    if (size > 0 && size <= c.end - c.position) c.position += size;
    else if (size > 0) c.take(size, what);
    else this.skip(c, part, what);
  }

  private skip(c: Cursor, part: Part, what: 'key' | 'namespace' | 'value'): void {
    try {
      part.codec.skip(c);
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error;
      c.position = c.end;
      this.swallowed = what;
      this.reason = error.message;
      return;
    }
    if (c.position !== c.end || (!part.unbounded && what !== 'value')) return;
    this.swallowed = what;
    this.suspect = !part.unbounded;
    this.reason = part.codec.opaque ?? 'its serializer is opaque';
  }

  /**
   * The key of a keyed entry at the cursor, whose value is not looked at; undefined when no namespace stands in front of it.
   * @throws StateQueryError when no key does
   */
  readKey(c: Cursor): Value | undefined {
    const { position } = c;
    this.step(c, this.namespace, 'namespace');
    if (this.isVoid && c.bytes[position] !== 0) return undefined;
    return this.key.read?.(c);
  }

  /**
   * After `read` failed for good: whether that was in a value of a serializer that may not know where its values end. Then it
   * took everything up to `end`.
   */
  giveUp(error: CorruptError, end: number): boolean {
    if (this.current !== 'value' || this.value?.unbounded !== true) return false;
    this.swallowed = 'value';
    this.suspect = false;
    this.reason = this.value.codec.opaque ?? error.message;
    this.valueEnd = end;
    return true;
  }

  /**
   * Decides whether a value that ends with all bytes there are took them because its end is not known. If not, it is no
   * longer `swallowed`.
   */
  settle(c: Cursor): void {
    if (this.swallowed !== 'value' || !this.suspect) return;
    this.suspect = false;
    try {
      const value = this.value?.read?.(c.reset(c.bytes, this.valueStart, this.valueEnd, c.base));
      if (value !== undefined && isPartial(value)) {
        this.reason = 'a part of it has a class whose fields are not known';
        return;
      }
    } catch (error) {
      if (!(error instanceof StateQueryError)) throw error;
    }
    this.swallowed = undefined;
    c.reset(c.bytes, this.valueEnd, c.end, c.base);
  }
}

/** Whether a value ends in bytes that could not be decoded. */
function isPartial(value: Value): boolean {
  if (value instanceof JsonText) return /"\$hex":"[0-9a-f]*"\}$/.test(value.text);
  if (value instanceof Struct) return value.values.length > 0 && isPartial(value.values[value.values.length - 1]);
  if (value instanceof MapValue) return value.entries.length > 0 && isPartial(value.entries[value.entries.length - 1][1]);
  return Array.isArray(value) && value.length > 0 && isPartial((value as readonly Value[])[value.length - 1]);
}

interface Part {
  readonly codec: Pick<Codec, 'skip' | 'opaque'>;
  readonly read?: Codec['read'];
  readonly size: number;
  readonly unbounded: boolean;
}

function partOf(codec: Codec): Part {
  return { codec, read: c => codec.read(c), size: wireSize(codec), unbounded: codec.unbounded === true };
}

/** A list or map whose codec can only step over it. */
function wholeOf(codec: Codec): Part {
  return { codec, size: -1, unbounded: codec.unbounded === true };
}

/** i32 n · n × element: what ListSerializer writes, where the header has the element's serializer only */
function listOf(element: Codec): Codec {
  return {
    ...element,
    length: -1,
    skip(c) {
      for (let n = c.count('number of list elements', 0); n > 0; n--) element.skip(c);
    },
  };
}

/** i32 n · n × (key · bool isNull · value) */
function mapOf(key: Codec, value: Codec): Codec {
  return {
    ...value,
    length: -1,
    unbounded: key.unbounded === true || value.unbounded === true,
    skip(c) {
      for (let n = c.count('number of map entries', 1); n > 0; n--) {
        key.skip(c);
        if (!c.bool()) value.skip(c);
      }
    },
  };
}
