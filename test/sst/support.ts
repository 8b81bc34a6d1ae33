/** Column families over tables in memory, and what a plain model says of them. */
import { memorySource, type ReadStats } from '../../src/io/source.js';
import { ColumnFamily, type ColumnFamilyFile, type ScanOptions } from '../../src/sst/column-family.js';
import { openTable, type Table } from '../../src/sst/table.js';
import type { Visible } from '../../src/sst/visible.js';
import { boundsOf, DELETE, encodeTable, MERGE, PUT, type Range, SINGLE_DELETE, type TableForm, type Version } from './encoder.js';

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
export const latin = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

export function tableOf(bytes: Uint8Array, verify = true): Table {
  return openTable(memorySource(bytes, 'test.sst'), { verify, where: 'a test' });
}

/** A file of a column family over encoded bytes. */
export function fileOf(name: string, bytes: Uint8Array, bounds: Partial<ColumnFamilyFile> = {}, stats?: ReadStats): ColumnFamilyFile {
  return { name, ...bounds, open: () => memorySource(bytes, name, 0, stats) };
}

/** Encodes one table with its bounds as a manifest would have them. */
export function encodedFile(name: string, versions: readonly Version[], form: TableForm = {}): ColumnFamilyFile {
  const largestSequence = [...versions, ...(form.rangeDeletions ?? [])].reduce((max, v) => (v.sequence > max ? v.sequence : max), 0n);
  return fileOf(name, encodeTable(versions, form), { ...boundsOf(versions, form.rangeDeletions), largestSequence });
}

export function familyOf(files: readonly ColumnFamilyFile[], verify = true): ColumnFamily {
  return new ColumnFamily(files, { verify, where: 'a test' });
}

/** [key, value] of each visible entry, as latin-1 text. */
export function drain(visible: Visible): [string, string][] {
  const out: [string, string][] = [];
  try {
    while (visible.next())
      out.push([
        latin(visible.bytes.subarray(visible.keyStart, visible.keyEnd)),
        latin(visible.bytes.subarray(visible.valueStart, visible.valueEnd)),
      ]);
  } finally {
    visible.close();
  }
  return out;
}

export function scanAll(files: readonly ColumnFamilyFile[], options: ScanOptions = {}): [string, string][] {
  const family = familyOf(files);
  try {
    return drain(family.scan(options));
  } finally {
    family.close();
  }
}

/** What RocksDB would answer, worked out version by version: the definition, not an algorithm. */
export function model(versions: readonly Version[], ranges: readonly Range[]): [string, string][] {
  const byKey = new Map<string, Version[]>();
  for (const version of versions) {
    const key = latin(version.key);
    byKey.set(key, [...(byKey.get(key) ?? []), version]);
  }
  const out: [string, string][] = [];
  for (const [key, list] of byKey) {
    const covering = ranges.filter(r => Buffer.compare(r.start, list[0].key) <= 0 && Buffer.compare(list[0].key, r.end) < 0);
    const deletedBelow =
      covering
        .map(r => r.sequence)
        .sort((a, b) => (a < b ? -1 : 1))
        .at(-1) ?? -1n;
    const operands: string[] = [];
    let result: string | undefined;
    for (const version of [...list].sort((a, b) => (a.sequence > b.sequence ? -1 : 1))) {
      if (version.sequence < deletedBelow || version.type === DELETE || version.type === SINGLE_DELETE) break;
      operands.unshift(latin(version.value));
      result = operands.join(',');
      if (version.type === PUT) break;
      if (version.type !== MERGE) throw new Error(`type ${version.type}`);
    }
    if (result !== undefined) out.push([key, result]);
  }
  return out.sort((a, b) => (a[0] < b[0] ? -1 : 1));
}
