/**
 * Decoders made of code: values of plain serializers from bytes into a column, several times as fast as their codecs do it.
 *
 * A codec may say how its values stand on the wire. From that, one function a value is generated with `new Function`: fields at
 * known distances, no calls, no objects, nothing of the fields that nobody asked for but the step over them. Only numbers out
 * of the description enter the text, never a name.
 *
 *   fixed     `width` big-endian bytes, which are the column's turned round        boolean   one byte, 0 or 1
 *   string    varint units (+ 1 where null is 0) · units, a varint each
 *   parts     [one byte `lead`] · parts back to back, each with a boolean in front when `flagged` (true: null, nothing follows)
 *
 * A decoder knows the common case only: for a subclass, a character above U+FFFF, a string longer than 16 KiB, a byte that is not
 * what it should be, or bytes that end too early it returns -1, and what it wrote is to be taken back: the codec decodes the
 * value, or says what is wrong with it.
 */
import { BytesColumn, type Column, FixedColumn, StructColumn } from '../io/column.js';
import type { Cursor } from '../io/cursor.js';
import type { Codec } from './codec.js';

export type Wire =
  | { readonly kind: 'fixed'; readonly width: 1 | 2 | 4 | 8 }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'string'; readonly nullable: boolean }
  | { readonly kind: 'parts'; readonly lead?: number; readonly flagged: boolean; readonly parts: readonly Codec[] };

/** By the codec itself: a codec that is made of another one by a spread is not the same. */
const wires = new WeakMap<Codec, Wire>();

/** Says how the values of a codec stand. @returns the codec */
export function withWire(codec: Codec, wire: Wire): Codec {
  wires.set(codec, wire);
  return codec;
}

/** Says that a codec's values stand as those of another one do. @returns the codec */
export function wiredLike(codec: Codec, other: Codec): Codec {
  const wire = wires.get(other);
  return wire === undefined ? codec : withWire(codec, wire);
}

export const wireOf = (codec: Codec): Wire | undefined => wires.get(codec);

/**
 * Appends the value at bytes[start …] to a column of the codec's type.
 * @param base file offset of bytes[0], for errors
 * @returns where the value ends, at most `end`; -1: not decoded, and the column to be cut to the rows it had
 */
export type Decoder = (bytes: Uint8Array, start: number, end: number, out: Column, cursor: Cursor, base: number) => number;

const MAX_PARTS = 64;
const MAX_DEPTH = 4;
/** Reads a UTF-16 unit into x. The bytes behind the value are read as well when it is cut off: `p > end` tells. */
const UNIT = '{x=b[p++];if(x>=128){x=x&127|b[p++]<<7;if(x>=16384){x=x&16383|b[p++]<<14;if(!(x<65536))return -1;}}if(p>end)return -1;}';
/** so many characters are copied one by one */
const SHORT = 24;

/** The decoder of a codec for columns that are made like `sample`; undefined when there is nothing to gain. */
export function compileDecoder(codec: Codec, sample: Column): Decoder | undefined {
  const wire = wires.get(codec);
  if (wire === undefined) return undefined;
  const writer = new Writer();
  if (!writer.value(codec, 'out', sample, 0)) return undefined;
  const text = `"use strict";return function(b,p,end,out,c,base){let n=0,x=0,q=0;${writer.head}const r=out.length;${writer.checks}${writer.body}return p;}`;
  try {
    return new Function('codecs', text)(writer.codecs) as Decoder;
  } catch {
    // an environment that makes no code of text
    return undefined;
  }
}

/** Steps over the value at bytes[start …]. @returns where it ends, at most `end`; -1: not known */
export type Skipper = (bytes: Uint8Array, start: number, end: number, cursor: Cursor, base: number) => number;

/** A decoder that only steps over the values of a codec; undefined when there is nothing to gain. */
export function compileSkipper(codec: Codec): Skipper | undefined {
  if (!wires.has(codec)) return undefined;
  const writer = new Writer();
  if (!writer.value(codec, '', undefined, 0)) return undefined;
  const text = `"use strict";return function(b,p,end,c,base){let n=0,x=0,q=0;${writer.body}return p;}`;
  try {
    return new Function('codecs', text)(writer.codecs) as Skipper;
  } catch {
    // an environment that makes no code of text
    return undefined;
  }
}

/** Collects the text of one function. */
class Writer {
  head = '';
  checks = 'if(r>=out.validity.length)return -1;';
  body = '';
  readonly codecs: Codec[] = [];
  private parts = 0;
  private columns = 0;

  /** Adds the decoding of one value into `column`, or the step over it. @returns false when it cannot be done */
  value(codec: Codec, column: string, sample: Column | undefined, depth: number): boolean {
    if (++this.parts > MAX_PARTS) return false;
    const wire = wires.get(codec);
    if (wire === undefined) return this.call(codec, column, sample);
    switch (wire.kind) {
      case 'fixed':
        return this.fixed(wire.width, column, sample);
      case 'boolean':
        if (sample !== undefined && !(sample instanceof FixedColumn && sample.width === 1)) return false;
        this.body += `if(p>=end||(x=b[p])>1)return -1;p++;${sample === undefined ? '' : `{${this.row(column)}${column}.data[r]=x;}`}`;
        return true;
      case 'string':
        return this.string(wire.nullable, column, sample);
      case 'parts':
        return this.composite(wire, column, sample, depth);
    }
  }

  private row(column: string): string {
    return `${column}.validity[r]=1;${column}.length=r+1;`;
  }

  private fixed(width: number, column: string, sample: Column | undefined): boolean {
    this.body += `if(p+${width}>end)return -1;`;
    if (sample !== undefined) {
      if (!(sample instanceof FixedColumn && sample.width === width)) return false;
      this.body += `{const d=${column}.data,a=r*${width};`;
      for (let i = 0; i < width; i++) this.body += `d[a+${i}]=b[p+${width - 1 - i}];`;
      this.body += `${this.row(column)}}`;
    }
    this.body += `p+=${width};`;
    return true;
  }

  private string(nullable: boolean, column: string, sample: Column | undefined): boolean {
    if (sample !== undefined && !(sample instanceof BytesColumn)) return false;
    this.body += 'if(p>=end)return -1;n=b[p++];if(n>=128){x=b[p++];if(!(x<128))return -1;n=n&127|x<<7;}';
    if (nullable)
      this.body += `if(n===0){${sample === undefined ? '' : `${column}.offsets[r+1]=${column}.offsets[r];${column}.validity[r]=0;${column}.length=r+1;`}}else{n--;`;
    this.body += 'if(p+n>end)return -1;';
    if (sample === undefined) this.body += `for(x=0,q=p;q<p+n;q++)x|=b[q];if(x<128)p+=n;else for(;n>0;n--)${UNIT}`;
    else
      this.body +=
        `{const h=${column}.heap,o=${column}.offsets;let a=o[r];if(a+3*n>h.length)return -1;x=0;` +
        `if(n<${SHORT})for(q=0;q<n;q++)x|=h[a+q]=b[p+q];else for(q=p;q<p+n;q++)x|=b[q];` +
        `if(x<128){if(n>=${SHORT})h.set(b.subarray(p,p+n),a);p+=n;a+=n;}` +
        `else for(;n>0;n--){${UNIT}if(x<128)h[a++]=x;else{if(x<2048)h[a++]=192|x>>6;else{if(x>=55296&&x<57344)return -1;` +
        `h[a++]=224|x>>12;h[a++]=128|x>>6&63;}h[a++]=128|x&63;}}` +
        `o[r+1]=a;${this.row(column)}}`;
    if (nullable) this.body += '}';
    return true;
  }

  private composite(wire: Wire & { kind: 'parts' }, column: string, sample: Column | undefined, depth: number): boolean {
    if (depth >= MAX_DEPTH) return false;
    if (wire.lead !== undefined) this.body += `if(p>=end||b[p]!==${wire.lead})return -1;p++;`;
    if (sample !== undefined) {
      if (!(sample instanceof StructColumn) || sample.children.length !== wire.parts.length) return false;
      this.body += this.row(column);
    }
    for (let i = 0; i < wire.parts.length; i++) {
      const part = wire.parts[i];
      const child = sample instanceof StructColumn && sample.wanted[i] ? sample.children[i] : undefined;
      let name = '';
      if (child !== undefined) {
        name = `c${this.columns++}`;
        this.head += `const ${name}=${column}.children[${i}];`;
        this.checks += `if(r>=${name}.validity.length)return -1;`;
      }
      if (wire.flagged)
        this.body += `if(p>=end||(x=b[p])>1)return -1;p++;if(x===1){${child === undefined ? '' : `${name}.pushNull();`}}else{`;
      if (!this.value(part, name, child, depth + 1)) return false;
      if (wire.flagged) this.body += '}';
    }
    return true;
  }

  /** What has no wire is left to its codec. */
  private call(codec: Codec, column: string, sample: Column | undefined): boolean {
    if (codec.unbounded === true || codec.opaque !== undefined) return false;
    const name = `codecs[${this.codecs.push(codec) - 1}]`;
    this.body += `c.reset(b,p,end,base);${name}.${sample === undefined ? 'skip(c)' : `append(c,${column})`};p=c.position;`;
    return true;
  }
}
