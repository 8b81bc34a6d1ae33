/** The programs of the README: they compile against the published types, run against the published code, and say what it says. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt, ROOT, statequery, WORDCOUNT } from '../cli/run.js';

/** another job, which has a state of the same name */
const OTHER = join(ROOT, 'fixtures/snapshots/2.3-kinds-hashmap-native/snapshot');

let temp: string;
const programs = new Map<string, string>();
beforeAll(async () => {
  await ensureBuilt();
  temp = mkdtempSync(join(tmpdir(), 'statequery-programs-'));
  mkdirSync(join(temp, 'node_modules/@types'), { recursive: true });
  symlinkSync(ROOT, join(temp, 'node_modules/statequery'));
  symlinkSync(join(ROOT, 'node_modules/@types/node'), join(temp, 'node_modules/@types/node'));
  symlinkSync(join(ROOT, 'node_modules/undici-types'), join(temp, 'node_modules/undici-types'));
  writeFileSync(join(temp, 'package.json'), '{"type":"module"}');
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  for (const [, text, name] of readme.matchAll(/```ts\n(\/\/ ([\w-]+\.ts)\b[\s\S]*?)```/g)) {
    programs.set(name, text);
    writeFileSync(join(temp, name), text);
    const { outputText } = ts.transpileModule(text, { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 } });
    writeFileSync(join(temp, name.replace(/\.ts$/, '.mjs')), outputText);
  }
});
afterAll(() => rmSync(temp, { recursive: true, force: true }));

const run = (name: string, ...args: string[]): string =>
  execFileSync(process.execPath, [join(temp, name), ...args], { encoding: 'utf8', cwd: temp });

describe('the programs of the README', () => {
  it('are all complete', () => {
    expect([...programs.keys()]).toEqual(['sums.ts', 'changes.ts']);
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8').match(/```ts\n/g)).toHaveLength(programs.size);
  });
  it('compile against the types of the package', () => {
    const program = ts.createProgram(
      [...programs.keys()].map(name => join(temp, name)),
      {
        strict: true,
        noEmit: true,
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.NodeNext,
        moduleResolution: ts.ModuleResolutionKind.NodeNext,
        types: ['node'],
        typeRoots: [join(temp, 'node_modules/@types')],
        preserveSymlinks: true,
      },
    );
    const problems = ts
      .getPreEmitDiagnostics(program)
      .map(d => `${d.file?.fileName}: ${ts.flattenDiagnosticMessageText(d.messageText, ' ')}`);
    expect(problems).toEqual([]);
  });
  it('sums.ts', () => {
    expect(run('sums.mjs', WORDCOUNT)).toBe("{ key: 'key_662', value: 11290n }\n");
  });
  it('changes.ts: as the same question in SQL', async () => {
    expect(run('changes.mjs', WORDCOUNT, WORDCOUNT, 'count')).toBe('');
    const sql = `SELECT concat(n.key_json::VARCHAR, ': ', coalesce(o.value_json::VARCHAR, 'new'), ' → ', n.value_json::VARCHAR)
      FROM new.keyed_state_raw n LEFT JOIN old.keyed_state_raw o ON n.key_json::VARCHAR = o.key_json::VARCHAR AND o.state_name = 'count'
      WHERE n.state_name = 'count' AND o.value_json::VARCHAR IS DISTINCT FROM n.value_json::VARCHAR`;
    const answer = await statequery(['sql', sql, '-s', `old=${WORDCOUNT}`, '-s', `new=${OTHER}`, '-o', 'list', '--no-header']);
    expect(answer).toMatchObject({ code: 0, stderr: '' });
    const lines = (text: string) => text.trimEnd().split('\n').sort();
    expect(lines(answer.stdout).length).toBeGreaterThan(1);
    expect(lines(run('changes.mjs', WORDCOUNT, OTHER, 'count'))).toEqual(lines(answer.stdout));
  });
});
