/** Sums vitest's JSON reports of a directory: `N passed, N failed`, exit 1 when anything failed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [dir, status] = process.argv.slice(2);
let passed = 0;
let failed = 0;
for (const name of readdirSync(dir).filter(file => file.endsWith('.json'))) {
  const report = JSON.parse(readFileSync(join(dir, name), 'utf8'));
  passed += report.numPassedTests;
  failed += report.numFailedTests;
  // a file that could not be loaded has no tests to count
  failed += report.testResults.filter(file => file.status === 'failed' && file.assertionResults.every(t => t.status !== 'failed')).length;
}
// a step before the tests counts as one failure when it is the only one
if (status !== '0' && failed === 0) failed = 1;
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
