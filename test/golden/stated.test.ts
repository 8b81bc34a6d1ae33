/** Snapshots of foreign jobs against the contents that they state: each state's rows, cell by cell, none missing, none more. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openClassPool } from '../../src/java/jar.js';
import { openSnapshot } from '../../src/tables/snapshot.js';
import { SHARED } from '../state/snapshots.js';
import { compareState, isCompared, type Stated } from './compare.js';
import { parseExact } from './stated.js';

const ROOT = join(SHARED, 'stated');

/** States that are shown otherwise than they are stated, and why: each of them has to differ. */
const ACCEPTED: Readonly<Record<string, { readonly state: string; readonly cases: RegExp }>> = {
  'logical types are shown by their meaning, as `connectors/avro-*` state them; here they are stated by their base values': {
    state: 'avro-generic',
    cases: /^datastream\/1\.20-types-/,
  },
  'written by a serializer of the user, which no class file describes': {
    state: 'opaque-custom-serializer',
    cases: /^connectors\/kryo-java-/,
  },
  'an object of that serializer lies within': { state: 'bag', cases: /^connectors\/kryo-java-hashmap-1\.20/ },
  'a Date is stated in milliseconds and a reference to the object itself as `itself`; shown are a time and a `$ref`': {
    state: '_default_',
    cases: /^connectors\/legacy-list-checkpointed-/,
  },
  'messages need the .proto files (test/proto/stated.test.ts)': {
    state: 'order|item|order-bytes',
    cases: /^connectors\/protobuf-/,
  },
};
const isAccepted = (name: string, state: string): boolean =>
  Object.values(ACCEPTED).some(a => a.cases.test(name) && a.state.split('|').includes(state));

const casesOf = (group: string): string[] =>
  existsSync(join(ROOT, group)) ? readdirSync(join(ROOT, group)).filter(name => existsSync(join(ROOT, group, name, 'expected.json'))) : [];

const acceptedSeen = new Map<string, number>();

describe.runIf(existsSync(ROOT)).each(['datastream', 'sql', 'connectors'])('stated: %s', group => {
  it.each(casesOf(group))('%s', name => {
    const directory = join(ROOT, group, name);
    const stated = parseExact(readFileSync(join(directory, 'expected.json'), 'utf8')) as unknown as Stated;
    const path =
      stated.metadata_path === undefined ? join(directory, stated.snapshot ?? 'snapshot') : dirname(join(directory, stated.metadata_path));
    const jar = [directory, dirname(directory), ROOT].map(d => join(d, 'classes.jar')).find(existsSync);
    const snapshot = openSnapshot(path, jar === undefined ? {} : { classes: openClassPool([jar]) });
    try {
      const wrong: string[] = [];
      let states = 0;
      for (const operator of stated.operators)
        for (const state of operator.states.filter(isCompared)) {
          const lines = compareState(snapshot, operator.operator_id, state).slice(0, 3);
          if (isAccepted(`${group}/${name}`, state.name)) acceptedSeen.set(state.name, (acceptedSeen.get(state.name) ?? 0) + lines.length);
          else wrong.push(...lines.map(line => `${operator.uid ?? operator.operator_id}.${state.name} (${state.kind}): ${line}`));
          states++;
        }
      expect(states).toBeGreaterThan(0);
      expect(wrong.join('\n')).toBe('');
    } finally {
      snapshot.close();
    }
  });
});

describe.runIf(existsSync(ROOT))('what is accepted', () => {
  it('differs', () => {
    const listed = Object.values(ACCEPTED).flatMap(a => a.state.split('|'));
    expect(listed.filter(state => (acceptedSeen.get(state) ?? 0) === 0)).toEqual([]);
  });
});
