/**
 * Fills the parts of README.md that the program knows better: output of commands, the tables, the options, what is tested.
 *
 *   npm run readme           writes README.md
 *
 * A part stands between `<!-- begin: NAME -->` and `<!-- end -->`; NAME is `tables`, `commands`, `options`, `formats`, `serializers`, `speed`, or a command line
 * after `$`, which is run. A test fails when README.md is not what this gives.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command, Option } from 'commander';
import { addOutputOptions, addQueryOptions, addReadingOptions } from '../src/cli/options.js';
import { createProgram } from '../src/cli/program.js';
import { TABLES } from '../src/tables/catalog.js';
import { sqlTypeText } from '../src/types.js';
import { readmeTable } from '../test/bench/report.js';
import { newestResults, RESULTS } from '../test/bench/results.js';
import { matrixTable, recorded } from './support-matrix.js';

const ROOT = resolve(import.meta.dirname, '..');

/** README.md with every part made anew. */
export function renderReadme(text: string): string {
  return text.replace(
    /(<!-- begin: (.*?) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, begin: string, name: string, end: string) => `${begin}${part(name)}${end}`,
  );
}

function part(name: string): string {
  if (name.startsWith('$ ')) return output(name.slice(2));
  const make = { tables, commands, options, formats, serializers, speed }[name];
  if (make === undefined) throw new Error(`README.md asks for ${name}`);
  return make();
}

/** A console block: the command and what it prints. Paths and file times are those of no machine. */
function output(line: string): string {
  const [program, ...args] = (line.match(/"[^"]*"|\S+/g) ?? []).map(word => word.replace(/^"(.*)"$/, '$1'));
  const script = program === 'npm' ? 'bin/demo.js' : 'bin/statequery.js';
  const env = { ...process.env, NO_COLOR: '1', STATEQUERY_SNAPSHOT: '', STATEQUERY_OUTPUT: '' };
  const ran = spawnSync(process.execPath, [join(ROOT, script), ...(program === 'npm' ? [] : args)], { cwd: ROOT, env, encoding: 'utf8' });
  const printed = (ran.stdout + ran.stderr)
    .replaceAll(`${ROOT}/`, '~/statequery/')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z \(time of the file\)/g, '2026-11-30T06:39:13Z (time of the file)');
  return `\`\`\`console\n$ ${line}\n${printed}\`\`\`\n`;
}

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;
const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/</g, '&lt;');

function commands(): string {
  const leaves = (command: Command, before: string): string[] =>
    command.commands.length > 0
      ? command.commands.filter(c => c.name() !== 'help').flatMap(c => leaves(c, `${before} ${command.name()}`))
      : [`| ${code(`${before} ${command.name()} ${command.usage().replace('[options] ', '')}`)} | ${cell(command.description())} |`];
  const rows = createProgram('0.0.0')
    .commands.filter(c => c.name() !== 'help')
    .flatMap(c => leaves(c, 'statequery'));
  return `| command | what it does |\n|---|---|\n${rows.join('\n')}\n`;
}

const GROUPS = [
  ['Output options, of every command', addOutputOptions],
  ['Reading options, of every command that opens a snapshot', addReadingOptions],
  ['Query options, of `sql`, `find` and `shell`', addQueryOptions],
] as const;

function options(): string {
  const shared = GROUPS.map(([title, add]) => ({ title, options: add(createProgram('0.0.0').createCommand('x')).options }));
  const common = new Set(shared.flatMap(group => group.options.map(o => o.long)));
  const own = createProgram('0.0.0')
    .commands.map(c => ({ title: `Options of \`${c.name()}\``, options: c.options.filter(o => !common.has(o.long)) }))
    .filter(group => group.options.length > 0);
  return [...own, ...shared].map(group => optionTable(group.title, group.options)).join('\n');
}

function optionTable(title: string, list: readonly Option[]): string {
  const rows = list.map(o => {
    const choices = o.argChoices === undefined ? '' : `: ${o.argChoices.join(', ')}`;
    const preset = typeof o.defaultValue === 'string' ? ` (default: ${o.defaultValue})` : '';
    return `| ${code(o.flags)} | ${cell(o.description)}${choices}${preset} |`;
  });
  return `${title}:\n\n| option | |\n|---|---|\n${rows.join('\n')}\n`;
}

function tables(): string {
  return TABLES.map(({ spec }) => {
    const aliases = spec.aliases.length === 0 ? '' : ` (also ${spec.aliases.map(a => `\`${a}\``).join(', ')})`;
    const columns = spec.columns.map(
      c => `| \`${c.name}\` | ${c.type === 'dynamic' ? 'of the states' : sqlTypeText(c.type)} | ${cell(c.description)} |`,
    );
    return `<details><summary><code>${spec.name}</code>${aliases.replaceAll('`', '')}: ${cell(spec.description)}</summary>\n\n| column | type | |\n|---|---|---|\n${columns.join('\n')}\n\n</details>\n`;
  }).join('\n');
}

interface Fixture {
  readonly flink: string;
  readonly backend: string;
  readonly format: string;
  readonly flags: Readonly<Record<string, string>>;
}

/** From the fixtures, each of which a test compares with what its job stated. */
function formats(): string {
  const dir = join(ROOT, 'fixtures/snapshots');
  const fixtures = readdirSync(dir)
    .sort()
    .map(name => {
      const head = readFileSync(join(dir, name, 'fixture.json'), 'utf8').split(',"operators"')[0];
      return { name, ...(JSON.parse(`${head.replace(/,"metadata_path".*$/s, '')}}`) as Fixture) };
    });
  const versions = [...new Set(fixtures.map(f => f.flink.split('.').slice(0, 2).join('.')))].sort(
    (a, b) => Number(a.split('.')[0]) - Number(b.split('.')[0]) || Number(a.split('.')[1]) - Number(b.split('.')[1]),
  );
  const kinds: readonly (readonly [string, (f: Fixture & { readonly name: string }) => boolean])[] = [
    ['canonical savepoint, from hashmap', f => f.format === 'canonical' && f.backend === 'hashmap'],
    ['canonical savepoint, from rocksdb', f => f.format === 'canonical' && f.backend === 'rocksdb'],
    ['hashmap: native savepoint, checkpoint', f => f.backend === 'hashmap' && f.format !== 'canonical'],
    ['rocksdb: native savepoint, full checkpoint', f => f.backend === 'rocksdb' && (f.format === 'native' || f.format === 'checkpoint')],
    ['rocksdb: incremental checkpoint', f => f.backend === 'rocksdb' && f.format === 'incremental'],
    ['forst: native savepoint, checkpoint', f => f.backend === 'forst'],
    ['changelog state backend', f => f.flags['state.changelog.enabled'] === 'true'],
    ['file merging', f => f.flags['execution.checkpointing.file-merging.enabled'] === 'true'],
    ['compressed state (snappy)', f => f.flags['compression'] === 'true'],
    ['state inlined in _metadata', f => f.name.endsWith('-inline')],
    ['rescaled', f => f.flags['restored_from_parallelism'] !== undefined],
    ['unaligned checkpoint with data in flight', f => f.name.includes('-inflight-')],
    ['finished operators', f => f.name.includes('-finished-')],
  ];
  const rows = kinds
    .map(([label, is]) => [label, ...versions.map(v => (fixtures.some(f => is(f) && f.flink.startsWith(`${v}.`)) ? 'yes' : ''))])
    .filter(([, ...cells]) => cells.some(c => c !== ''));
  return `| | ${versions.join(' | ')} |\n|---|${versions.map(() => '---|').join('')}\n${rows.map(r => `| ${r.join(' | ')} |`).join('\n')}\n`;
}

/** As recorded by `npm run support-matrix -- --write`; a test of the corpus finds the same anew. */
function serializers(): string {
  const proven = recorded();
  const count = Object.keys(proven).length;
  return `<details><summary>The ${count} serializers, by Flink version</summary>\n\n${matrixTable(proven)}\n</details>\n`;
}

/** The last result of `npm run bench` that has Flink's readers in it. */
function speed(): string {
  const results = newestResults(RESULTS, found => found.states.some(state => state.answers.some(answer => answer.flink !== undefined)));
  return results === undefined ? '' : readmeTable(results);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === resolve(import.meta.filename)) {
  const file = join(ROOT, 'README.md');
  writeFileSync(file, renderReadme(readFileSync(file, 'utf8')));
}
