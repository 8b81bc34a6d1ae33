/** Jobs with Kryo values against what they stated: Java, Scala and keys, Flink 1.20 and 2.3. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openClassPool } from '../../../src/java/jar.js';
import { openSnapshot } from '../../../src/tables/snapshot.js';
import { compareState, type Stated } from '../../golden/compare.js';
import { parseExact } from '../../golden/stated.js';
import { SHARED } from '../support.js';

const stated = join(SHARED, 'stated');
/** written by a serializer of the user's, alone and within an object */
const OPAQUE = ['opaque-custom-serializer', 'bag'];
const CASES = [
  ['connectors/kryo-java-hashmap-1.20', 24],
  ['connectors/kryo-java-rocksdb-2.3', 21],
  ['connectors/scala-hashmap-1.20', 31],
  ['connectors/kinesis-legacy-consumer-1.20', 1],
  ['datastream/1.20-keys-rocksdb-incremental', 106],
] as const;

describe.runIf(existsSync(stated))('stated', () => {
  it.each(CASES)('%s', (name, states) => {
    const directory = join(stated, name);
    const said = parseExact(readFileSync(join(directory, 'expected.json'), 'utf8')) as unknown as Stated;
    const classes = openClassPool([join(dirname(directory), 'classes.jar'), join(stated, 'classes.jar')].filter(existsSync).slice(0, 1));
    const snapshot = openSnapshot(dirname(join(directory, said.metadata_path ?? 'snapshot/_metadata')), { classes });
    try {
      const wrong: string[] = [];
      let compared = 0;
      for (const operator of said.operators)
        for (const state of operator.states) {
          if (state.partial === true || OPAQUE.includes(state.name)) continue;
          compared++;
          wrong.push(...compareState(snapshot, operator.operator_id, state).map(line => `${state.name}: ${line}`));
        }
      expect(wrong).toEqual([]);
      expect(compared).toBe(states);
    } finally {
      snapshot.close();
    }
  });
});
