import { defineConfig } from 'vitest/config';

/** Tests over foreign snapshots, which need the folder `shared` beside the repository. */
const CORPUS = ['test/corpus/**/*.test.ts', 'test/**/{corpus,stated}.test.ts'];

export default defineConfig({
  test: {
    // times of a machine that has other things to do
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: CORPUS } },
      { extends: true, test: { name: 'corpus', include: CORPUS } },
    ],
  },
});
