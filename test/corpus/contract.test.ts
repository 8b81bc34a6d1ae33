/** The lists of test/repo/public.ts are those of the contract's text. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SHARED } from '../checkpoint/shared.js';
import { COMMANDS, OPTIONS, OTHER_TABLES, TABLES } from '../repo/public.js';

const file = join(SHARED, 'contract.md');
const sorted = (found: Iterable<string>): string[] => [...new Set(found)].sort();

describe.runIf(existsSync(file))('the contract', () => {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const section = (n: number): string => text.split(/^## /m).find(s => s.startsWith(`${n}.`)) ?? '';

  it('has these commands', () => {
    expect(sorted([...section(1).matchAll(/^ {4}statequery (\w+)/gm)].map(m => m[1]))).toEqual([...COMMANDS]);
  });
  it('has these options', () => {
    const long = sorted([...text.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(m => m[0]));
    expect(long).toEqual(sorted(Object.keys(OPTIONS).filter(o => o.startsWith('--'))));
    for (const short of Object.keys(OPTIONS).filter(o => !o.startsWith('--')))
      expect(section(1)).toMatch(new RegExp(`[\`( ]${short}[ \`,]`));
  });
  it('has these tables', () => {
    expect(sorted([...section(2).matchAll(/\*\*([a-z_]+)\*\*/g)].map(m => m[1]))).toEqual([...TABLES]);
    for (const name of OTHER_TABLES) expect(section(2)).toContain(name);
  });
});
