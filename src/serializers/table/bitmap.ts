/**
 * BITMAP (2.3): a set of ints, as the list of its members in unsigned order.
 *
 *   i32 n (big-endian; alone only) · Roaring bitmap, little-endian:
 *   u32 0x303A · u32 containers                      or   u16 0x303B · u16 containers - 1 · a bit a container: it is made of runs
 *   containers × (u16 high half · u16 members - 1)
 *   [containers × u32 offset]                        with 0x303A, and with 0x303B from 4 containers on
 *   containers: runs u16 n, n × (u16 first · u16 length - 1) · up to 4,096 members: u16 each · more: 8,192 bytes of bits
 *
 * Flink: BitmapSerializer, RoaringBitmapData (2.3), which writes RoaringBitmap's portable form (org.roaringbitmap 1.3).
 */
import { UnsupportedError } from '../../errors.js';
import { Cursor } from '../../io/cursor.js';
import { INTEGER, list, type Value } from '../../types.js';
import { codecOf } from '../codec.js';
import { simpleDefinition } from '../simple.js';

export const BITMAP_TYPE = list(INTEGER);
/** A run of 65,536 members has 4 bytes. */
const MAX_MEMBERS = 1 << 22;

/** The members of the bitmap in bytes[from, to). @throws CorruptError, UnsupportedError (too many members) */
export function bitmapValue(source: Cursor, from: number, to: number): Value {
  const c = new Cursor(source.bytes, from, to, source.origin, source.base);
  const cookie = c.u32le();
  const withRuns = (cookie & 0xffff) === 0x303b;
  if (!withRuns && cookie !== 0x303a) c.fail(`bitmap begins with ${cookie.toString(16)}`, from);
  const containers = withRuns ? (cookie >>> 16) + 1 : c.u32le();
  if (containers > 65536) c.fail(`bitmap of ${containers} containers`, from);
  const runBits = withRuns ? c.take((containers + 7) >> 3, 'bitmap') : 0;
  const heads = c.take(containers * 4, 'bitmap');
  if (!withRuns || containers >= 4) c.take(containers * 4, 'offsets of a bitmap');
  const half = (at: number): number => c.bytes[at] | (c.bytes[at + 1] << 8);

  const members: number[] = [];
  for (let i = 0; i < containers; i++) {
    const high = half(heads + i * 4) << 16;
    const count = half(heads + i * 4 + 2) + 1;
    if (members.length + count > MAX_MEMBERS)
      throw new UnsupportedError(`bitmap of more than ${MAX_MEMBERS} members`, { ...c.origin, offset: c.offset });
    const before = members.length;
    if (withRuns && (c.bytes[runBits + (i >> 3)] & (1 << (i & 7))) !== 0) {
      for (let runs = c.u16le(); runs > 0; runs--) {
        const first = c.u16le();
        const last = first + c.u16le();
        if (last > 0xffff || members.length - before + last - first >= count) c.fail('run of a bitmap is too long');
        for (let low = first; low <= last; low++) members.push(high | low);
      }
    } else if (count <= 4096) {
      for (let at = c.take(count * 2, 'bitmap'), n = 0; n < count; n++, at += 2) members.push(high | half(at));
    } else {
      const bits = c.take(8192, 'bitmap');
      for (let low = 0; low < 65536; low++) if ((c.bytes[bits + (low >> 3)] & (1 << (low & 7))) !== 0) members.push(high | low);
    }
    if (members.length - before !== count) c.fail(`container of a bitmap has ${members.length - before} members, its head says ${count}`);
  }
  c.expectEnd('a bitmap');
  return members;
}

export const BITMAP_CODEC = codecOf({
  type: BITMAP_TYPE,
  read(c) {
    const n = c.count('bytes of a bitmap');
    const from = c.take(n);
    return bitmapValue(c, from, from + n);
  },
  skip: c => void c.take(c.count('bytes of a bitmap')),
});

export const SERIALIZERS = [
  simpleDefinition(
    ['org.apache.flink.api.common.typeutils.base.BitmapSerializer$BitmapSerializerSnapshot'],
    'BitmapSerializer',
    'Bitmap',
    () => BITMAP_CODEC,
  ),
];
