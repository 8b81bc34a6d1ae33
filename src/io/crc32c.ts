/**
 * CRC-32C (Castagnoli): polynomial 0x1EDC6F41, reflected 0x82F63B78, start and final xor 0xFFFFFFFF. RFC 3720, appendix B.4.
 *
 * Snappy frames and RocksDB blocks store it masked: rotated right by 15 bits, plus 0xA282EAD8, so that a checksum of bytes
 * that hold a checksum stays sound.
 */
import { fastCrc32c } from './checksum-code.js';

/** TABLES[256 * k + b]: the CRC of byte b followed by k zero bytes. Eight of them take eight bytes a step. */
const TABLES = new Int32Array(8 * 256);
for (let b = 0; b < 256; b++) {
  let crc = b;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  TABLES[b] = crc;
}
for (let i = 256; i < TABLES.length; i++) {
  const before = TABLES[i - 256];
  TABLES[i] = (before >>> 8) ^ TABLES[before & 0xff];
}

const fast = fastCrc32c(TABLES);
/** below, the code is not worth its call */
const MIN_FAST = 256;

/** CRC-32C of bytes[start, end), as u32. `before`: the CRC of what precedes them, to go on from. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length, before = 0): number {
  const t = TABLES;
  let crc = ~before;
  let p = start;
  if (end - start >= MIN_FAST) {
    const whole = start + ((end - start) & ~7);
    const done = fast(bytes, start, whole, crc);
    if (done !== undefined) {
      crc = done;
      p = whole;
    }
  }
  for (const last = end - 8; p <= last; p += 8) {
    const low = crc ^ (bytes[p] | (bytes[p + 1] << 8) | (bytes[p + 2] << 16) | (bytes[p + 3] << 24));
    crc =
      t[1792 + (low & 0xff)] ^
      t[1536 + ((low >>> 8) & 0xff)] ^
      t[1280 + ((low >>> 16) & 0xff)] ^
      t[1024 + (low >>> 24)] ^
      t[768 + bytes[p + 4]] ^
      t[512 + bytes[p + 5]] ^
      t[256 + bytes[p + 6]] ^
      t[bytes[p + 7]];
  }
  for (; p < end; p++) crc = (crc >>> 8) ^ t[(crc ^ bytes[p]) & 0xff];
  return ~crc >>> 0;
}

/** The masked form of a CRC, as u32. */
export function maskCrc32c(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** The CRC of a masked form, as u32. */
export function unmaskCrc32c(masked: number): number {
  const rotated = (masked - 0xa282ead8) >>> 0;
  return ((rotated >>> 17) | (rotated << 15)) >>> 0;
}
