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

const PEERS = { sql: 'SQL connector', spa: 'State Processor API', rocksjni: 'RocksDB iterator (C++)' } as const;
const STORED: Readonly<Record<string, string>> = {
  'rocks-canon': 'canonical',
  'rocks-native': 'RocksDB native',
  'rocks-inc': 'RocksDB incremental',
  'heap-native': 'hashmap native',
};

/** Markdown: what Flink's readers were asked as well, and what they took. */
export function readmeTable(results: Results): string {
  const rows = results.states.flatMap(state =>
    state.answers
      .filter(answer => answer.flink !== undefined || (answer.question === 'export' && state.kind === 'rocks-canon'))
      .map(answer => {
        const about = QUESTIONS.find(q => q.name === answer.question)?.about ?? answer.question;
        const { flink } = answer;
        return [
          `${about}, ${STORED[state.kind] ?? state.kind}`,
          state.keys.toLocaleString('en'),
          `${short(answer.wall)} s, ${answer.rssMb} MB`,
          flink === undefined ? '' : `${PEERS[flink.tool]}: ${short(flink.wall)} s, ${flink.rssMb} MB`,
          flink === undefined ? `${answer.rowsPerSecond?.toLocaleString('en')} rows/s` : times(flink.wall / answer.wall),
        ];
      }),
  );
  const { machine, start } = results;
  return (
    `| | keys | statequery | Flink | |\n|---|---|---|---|---|\n${rows.map(row => `| ${row.join(' | ')} |`).join('\n')}\n\n` +
    `${results.date.slice(0, 10)}, ${machine.cpu}, ${machine.cores} cores, Node ${machine.node.slice(1)} (\`node -e 0\`: ${start.wall} s, ${start.rssMb} MB).\n`
  );
}
