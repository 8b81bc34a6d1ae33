/**
 * The native engine, loaded on first use. `@duckdb/node-bindings` is DuckDB's C API one to one (the lower half of
 * `@duckdb/node-api` 1.5.6-r.1); this folder alone touches it. It is CommonJS: the module object is `.default`.
 */
import type * as bindings from '@duckdb/node-bindings';
import { UnsupportedError } from '../../errors.js';

export type Duck = typeof bindings;
export type { Connection, Database, DataChunk, LogicalType, Result, Vector } from '@duckdb/node-bindings';

let loaded: Promise<Duck> | undefined;

/** The C API. `UnsupportedError` where no native module exists for the platform. */
export function loadDuck(): Promise<Duck> {
  loaded ??= import('@duckdb/node-bindings').then(
    module => (module as unknown as { default: Duck }).default,
    cause => {
      loaded = undefined;
      throw new UnsupportedError(`the DuckDB engine does not load on ${process.platform}-${process.arch}`, {
        hint: 'use --engine alasql for simple statements',
        cause,
      });
    },
  );
  return loaded;
}
