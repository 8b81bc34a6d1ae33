/** The recorded list of serializers holds what the fixtures of the repository prove. */
import { expect, it } from 'vitest';
import { provenByFixtures, recorded } from '../../scripts/support-matrix.js';

it('what the fixtures prove is recorded', () => {
  const record = recorded();
  const proven = provenByFixtures();
  const missing = Object.entries(proven).flatMap(([name, versions]) =>
    versions.filter(v => record[name]?.includes(v) !== true).map(v => `${name} ${v}`),
  );
  expect(missing).toEqual([]);
  expect(Object.keys(proven).length).toBeGreaterThan(60);
});
