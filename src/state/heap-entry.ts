/**
 * One entry of a heap-native file: namespace · key · value, or a timer, each part as long as its serializer says.
 *
 * A serializer whose values have no end of their own (Codec.unbounded) takes everything up to the cursor's end: the part is
 * then `swallowed`, and the reader of the file decides what that means. Flink: CopyOnWriteStateTableSnapshot (1.8–2.3).
 */
import { UnsupportedError } from '../errors.js';
import type { Cursor } from '../io/cursor.js';
import type { Codec, CodecContext, SerializerSnapshot } from '../serializers/codec.js';
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
  /** the part that stands last in an entry */
  readonly lastPart: 'namespace' | 'value';
  private readonly key: Part;
  private readonly namespace: Part;
  private readonly value: Part | undefined;
  private readonly size: number;

  constructor(key: SerializerSnapshot, state: RegisteredState, context: CodecContext) {
    const codecs = codecsOf(key, state, context);
    this.key = partOf(codecs.key);
    this.namespace = partOf(codecs.namespace);
    if (state.kind === 'timer') this.value = undefined;
    else if (codecs.value !== undefined) this.value = partOf(codecs.value);
    else if (codecs.element !== undefined) this.value = partOf(listOf(codecs.element));
    else this.value = partOf(mapOf(codecs.mapKey as Codec, codecs.mapValue as Codec));
    this.lastPart = this.value === undefined ? 'namespace' : 'value';
    const sizes = [this.key.size, this.namespace.size, this.value === undefined ? 8 : this.value.size];
    this.size = sizes.every(size => size > 0) ? sizes.reduce((a, b) => a + b) : -1;
  }

  /** `read` for step-over.ts: why a part took everything, if one did */
  readonly readFrom = (c: Cursor): string | undefined => {
    this.read(c);
    return this.swallowed === undefined ? undefined : this.reason;
  };

  /** Reads the entry at the cursor and steps over it. @throws CorruptError, also when the cursor ends before the entry */
  read(c: Cursor): void {
    const start = c.position;
    if (this.size > 0) c.take(this.size, 'entry');
    this.swallowed = undefined;
    c.position = start;
    if (this.value === undefined) {
      c.take(8, 'timestamp of the timer');
      this.keyStart = c.position;
      this.keyEnd = this.step(c, this.key, 'key');
      this.namespaceStart = c.position;
      this.namespaceEnd = this.swallowed === undefined ? this.step(c, this.namespace, 'namespace') : c.position;
      this.userKeyStart = start;
      this.userKeyEnd = c.position;
      this.valueStart = c.position;
      this.valueEnd = c.position;
    } else {
      this.namespaceStart = start;
      this.namespaceEnd = this.step(c, this.namespace, 'namespace');
      this.keyStart = c.position;
      this.keyEnd = this.swallowed === undefined ? this.step(c, this.key, 'key') : c.position;
      this.valueStart = c.position;
      this.valueEnd = this.swallowed === undefined ? this.step(c, this.value, 'value') : c.position;
      this.userKeyStart = this.valueStart;
      this.userKeyEnd = this.valueStart;
    }
    if (c.position === start) c.fail('an entry of no bytes');
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

  private step(c: Cursor, part: Part, what: 'key' | 'namespace' | 'value'): number {
    if (part.size > 0) {
      c.take(part.size, what);
      return c.position;
    }
    try {
      part.codec.skip(c);
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error;
      c.position = c.end;
      this.swallowed = what;
      this.reason = error.message;
      return c.position;
    }
    if (part.unbounded && c.position === c.end) {
      this.swallowed = what;
      this.reason = part.codec.opaque ?? 'its serializer is opaque';
    }
    return c.position;
  }
}

interface Part {
  readonly codec: Pick<Codec, 'skip' | 'opaque'>;
  readonly size: number;
  readonly unbounded: boolean;
}

function partOf(codec: Codec): Part {
  return { codec, size: wireSize(codec), unbounded: codec.unbounded === true };
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
