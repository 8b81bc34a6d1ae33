/** What is read of which file: every call of `fs.readSync` on this thread while something runs, whoever makes it. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

export interface Read {
  readonly path: string;
  readonly position: number;
  readonly length: number;
}

/** Runs `action`, and returns its result and its reads, in their order. Files that are open already are not known and not counted. */
export async function readsOf<T>(action: () => Promise<T>): Promise<{ readonly result: T; readonly reads: readonly Read[] }> {
  const { openSync, readSync } = fs;
  const paths = new Map<number, string>();
  const reads: Read[] = [];
  fs.openSync = (path, flags, mode) => {
    const fd = openSync(path, flags, mode);
    paths.set(fd, String(path));
    return fd;
  };
  const counted = (fd: number, buffer: NodeJS.ArrayBufferView, offset: number, length: number, position: number): number => {
    const done = readSync(fd, buffer, offset, length, position);
    const path = paths.get(fd);
    if (path !== undefined) reads.push({ path, position, length: done });
    return done;
  };
  fs.readSync = counted as typeof fs.readSync;
  syncBuiltinESMExports();
  try {
    return { result: await action(), reads };
  } finally {
    fs.openSync = openSync;
    fs.readSync = readSync;
    syncBuiltinESMExports();
  }
}

export const bytesOf = (reads: readonly Read[]): number => reads.reduce((sum, read) => sum + read.length, 0);

/** The reads of each file. */
export function byFile(reads: readonly Read[]): ReadonlyMap<string, readonly Read[]> {
  const files = new Map<string, Read[]>();
  for (const read of reads) files.set(read.path, [...(files.get(read.path) ?? []), read]);
  return files;
}
