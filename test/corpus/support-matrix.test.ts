/** The serializers that README.md lists are those whose values are decoded here. */
import { describe, expect, it } from 'vitest';
import { hasShared, provenByAll, recorded } from '../../scripts/support-matrix.js';

describe.runIf(hasShared)('serializers by Flink version', () => {
  it('are as recorded (npm run support-matrix -- --write)', () => {
    expect(provenByAll()).toEqual(recorded());
  });
});
