import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Tests that run Flink itself (Java 17, Maven, and the network the first time). */
export default defineConfig({
  test: {
    root: resolve(import.meta.dirname, '../..'),
    include: ['test/flink/**/*.flink.ts'],
    testTimeout: 900_000,
    hookTimeout: 900_000,
    maxWorkers: 1,
  },
});
