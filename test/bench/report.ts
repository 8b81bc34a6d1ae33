/** Results as text: the table of a run, what grew, and the part of README.md. */
import { growthOf, type Regression } from './compare.js';
import { QUESTIONS } from './questions.js';
import type { Answer, Results, StateResults } from './results.js';

/** Digits that mean something. */
const short = (n: number): string => (n >= 100 ? n.toFixed(0) : n >= 10 ? n.toFixed(1) : n.toFixed(2));
const maybe = (n: number | undefined, text: (n: number) => string): string => (n === undefined ? '' : text(n));
const times = (n: number): string => `${short(n)} ×`;
/** more keys may take that much more time than as many times as they are */
const LINEAR = 1.05;

/** A line for each answer. */
export function tableOf(results: Results): string {
  const { start, version, machine } = results;
  const head = ['', 'wall s', 'CPU s', 'MB', 'to limit', "cat's speed", 'rows/s', 'MB read', 'reads', 'Flink s', 'Flink MB', 'faster'];
  const rows = results.states.flatMap(state => [
    [state.state, ...Array.from({ length: head.length - 1 }, () => '')],
    ['  cat', short(state.cat.wall), maybe(state.cat.cpu, short), '', '', `${(state.cat.bytesPerSecond / 1e9).toFixed(1)} GB/s`],
    ...state.answers.map(answer => line(state, answer)),
  ]);
  const threads = results.threads === null ? '' : `, --threads ${results.threads}`;
  return [
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}${threads}; commit ${results.commit}`,
    `node -e 0: ${short(start.wall)} s, ${maybe(start.rssMb, String)} MB; --version: ${times(version.toLimit)}`,
    '',
    aligned([head, ...rows]),
  ].join('\n');
}

function line(state: StateResults, answer: Answer): string[] {
  const { flink } = answer;
  const { others } = answer;
  return [
    `  ${answer.question}`,
    short(answer.wall),
    maybe(answer.cpu, short),
    maybe(answer.rssMb, String),
    times(answer.toLimit),
    answer.limit === 'read' ? `${((100 * state.cat.wall) / answer.wall).toFixed(0)} %` : '',
    maybe(answer.rowsPerSecond, String),
    maybe(answer.bytesRead, n => (n / 2 ** 20).toFixed(1)),
    maybe(answer.reads, String),
    flink === undefined ? '' : short(flink.wall),
    flink === undefined ? '' : String(flink.rssMb),
    `${flink === undefined ? '' : times(flink.wall / answer.wall)}${others !== undefined && others >= 0.2 ? `  (${others.toFixed(1)} cores busy)` : ''}`,
  ];
}

/** Columns that line up, numbers to the right; blanks at the ends of lines are cut off. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0].map((_, i) => Math.max(...rows.map(row => (row[i] ?? '').length)));
  return rows
    .map(row =>
      row
        .map((cell, i) => (i === 0 || i === widths.length - 1 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** What takes more than ten times as long with ten times as many keys. */
export function growthText(results: Results): string {
  const growth = growthOf(results);
  if (growth.length === 0) return '';
  const bad = growth.filter(g => g.time > g.keys * LINEAR);
  const worst = growth.reduce((a, b) => (b.time / b.keys > a.time / a.keys ? b : a));
  return bad.length === 0
    ? `linear: at most ${short(worst.time)} × the time for ${worst.keys} × the keys (${worst.what})\n`
    : `not linear: ${bad.map(g => `${g.what} ${short(g.time)} × for ${g.keys} ×`).join(', ')}\n`;
}

export function regressionText(found: readonly Regression[], date: string): string {
  if (found.length === 0) return `no worse than on ${date.slice(0, 10)}\n`;
  const lines = found.map(
    r => `  ${r.what}: ${r.measure} ${short(r.before)} -> ${short(r.after)} (+${((r.after / r.before - 1) * 100).toFixed(0)} %)`,
  );
  return `worse than on ${date.slice(0, 10)} (times as ratios to the limit):\n${lines.join('\n')}\n`;
}

const PEERS = { sql: 'SQL', spa: 'State Processor API', rocksjni: 'RocksDB' } as const;
const STORED: Readonly<Record<string, string>> = {
  'rocks-canon': 'canonical',
  'rocks-native': 'RocksDB native',
  'rocks-inc': 'RocksDB incremental',
};

/** Markdown: what Flink's readers were asked as well, a line for each question and kind of snapshot, with all sizes beside each other. */
export function readmeTable(results: Results): string {
  const sizes = [...new Set(results.states.map(s => s.keys))].sort((a, b) => a - b);
  const isShown = (state: StateResults, answer: Answer): boolean =>
    answer.flink !== undefined || (answer.question === 'export' && state.kind === 'rocks-canon');
  const rows = new Map<string, { readonly about: string; readonly cells: string[] }>();
  for (const state of results.states)
    for (const answer of state.answers.filter(answer => isShown(state, answer))) {
      const id = `${state.kind} ${answer.question}`;
      const about = QUESTIONS.find(q => q.name === answer.question)?.about ?? answer.question;
      const row = rows.get(id) ?? { about: `${about}, ${STORED[state.kind] ?? state.kind}`, cells: sizes.flatMap(() => ['', '', '']) };
      rows.set(id, row);
      row.cells.splice(3 * sizes.indexOf(state.keys), 3, ...readmeCells(answer));
    }
  const head = sizes.flatMap(keys => [`${keys.toLocaleString('en')} keys`, 'Flink', 'faster']);
  const { machine, start } = results;
  return [
    'Beside Flink: its SQL `savepoint` connector, the State Processor API, and the iterator of RocksDB in C++, on the same files in the page cache.',
    '',
    `| | ${head.join(' | ')} |`,
    `|---|${head.map(() => '---|').join('')}`,
    ...[...rows.values()].map(({ about, cells }) => `| ${[about, ...cells].join(' | ')} |`),
    '',
    `${results.date.slice(0, 10)}, ${machine.cpu}, ${machine.cores} cores, Node ${machine.node.slice(1)}, whose start (\`node -e 0\`) takes ${start.wall} s and ${start.rssMb} MB.`,
    '',
  ].join('\n');
}

function readmeCells({ wall, rssMb, rowsPerSecond, flink }: Answer): readonly string[] {
  const ours = `${short(wall)} s, ${rssMb} MB`;
  if (flink === undefined) return [`${ours}, ${rowsPerSecond?.toLocaleString('en')} rows/s`, '', ''];
  return [ours, `${PEERS[flink.tool]}: ${short(flink.wall)} s, ${flink.rssMb} MB`, times(flink.wall / wall)];
}
