/** bzip2 streams, through the optional package `@openpgp/seek-bzip` (pure JavaScript, checks bzip2's own CRCs). */
import { createRequire } from 'node:module';
import { CorruptError, UnsupportedError } from '../errors.js';

const PACKAGE = '@openpgp/seek-bzip@1.0.5-git';

type Bunzip = typeof import('@openpgp/seek-bzip')['default'];
let bunzip: Bunzip | undefined;

/** Loads the package when the first bzip2 block comes; synchronously, as blocks are decoded. */
function loadBzip2(): Bunzip {
  try {
    bunzip ??= createRequire(import.meta.url)('@openpgp/seek-bzip') as Bunzip;
  } catch (cause) {
    throw new UnsupportedError('bzip2 needs a package that is not installed', { hint: `npm install ${PACKAGE}`, cause });
  }
  return bunzip;
}

/**
 * The bytes of a bzip2 stream.
 * @param length bytes it must give, or the most that it may when `exact` is false
 * @throws CorruptError (without an origin), UnsupportedError when the package is not there
 */
export function decodeBzip2(block: Uint8Array, length: number, exact = true): Uint8Array {
  const bunzip = loadBzip2();
  const out = new Output(length, exact ? length : Math.min(length, 1 << 16));
  try {
    bunzip.decode(block, out);
  } catch (cause) {
    throw new CorruptError(`bzip2 block: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  if (exact && out.written !== length) throw new CorruptError(`bzip2 block: ${out.written} bytes come out, ${length} expected`);
  return out.bytes.subarray(0, out.written);
}

/** Where the package writes to: stops it as soon as more comes out than may. */
class Output {
  bytes: Uint8Array;
  written = 0;
  constructor(
    private readonly limit: number,
    capacity: number,
  ) {
    this.bytes = new Uint8Array(capacity);
  }
  writeByte(byte: number): void {
    if (this.written === this.limit) throw new Error(`more than ${this.limit} bytes come out`);
    if (this.written === this.bytes.length) {
      const grown = new Uint8Array(Math.min(this.limit, this.bytes.length * 2));
      grown.set(this.bytes);
      this.bytes = grown;
    }
    this.bytes[this.written++] = byte;
  }
}
