/** Every pair of snapshot and value of Flink's upgrade tests can be inspected, to the last byte. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectionJson, inspectSnapshot } from '../../src/serializers/inspect.js';
import { HAS_SHARED, SHARED } from '../tables/support.js';

if (HAS_SHARED)
  describe('pairs', () => {
    const directory = join(SHARED, 'corpus/serializers');
    it('all give one JSON object and leave nothing over', () => {
      const wrong: string[] = [];
      const names = readdirSync(directory, { withFileTypes: true }).filter(e => e.isDirectory());
      for (const { name } of names) {
        const file = (f: string) => readFileSync(join(directory, name, f));
        const found = JSON.parse(inspectionJson(inspectSnapshot(file('serializer-snapshot'), file('test-data')))) as Record<
          string,
          unknown
        >;
        const keys = Object.keys(found).slice(0, 4).join();
        if (keys !== 'serializer,type,value,left_over' || found['left_over'] !== 0) wrong.push(`${name}: ${JSON.stringify(found)}`);
      }
      expect(names.length).toBeGreaterThan(800);
      expect(wrong).toEqual([]);
    });
  });
else it('the corpus is not here', () => expect(HAS_SHARED).toBe(false));
