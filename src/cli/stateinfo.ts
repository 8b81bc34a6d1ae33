/** `stateinfo build`: opens a snapshot with everything that names it, and writes the file whole or not at all. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileError } from '../io/source.js';
import { openClassPool } from '../java/jar.js';
import { buildStateInfo } from '../stateinfo/build.js';
import { parseGraph } from '../stateinfo/graph.js';
import { encodeStateInfo } from '../stateinfo/message.js';
import { readText } from '../stateinfo/sources.js';
import type { ReadingFlags } from './options.js';
import { openWith } from './reading.js';
import type { Session } from './session.js';

export async function buildFile(
  path: string,
  output: string,
  graphFile: string | undefined,
  flags: ReadingFlags,
  session: Session,
): Promise<void> {
  const graph = graphFile === undefined ? undefined : parseGraph(readText(graphFile), graphFile);
  const snapshot = await openWith(path, flags, session, undefined, graph === undefined ? {} : { graph });
  const pool = flags.jar.length === 0 ? undefined : openClassPool(flags.jar);
  try {
    const info = buildStateInfo(snapshot, {
      writtenBy: 'statequery',
      ...(graph === undefined ? {} : { jobName: graph.job, chains: new Map(graph.operators.map(o => [o.id, o.chain])) }),
      ...(pool === undefined ? {} : { classes: pool }),
    });
    write(output, await encodeStateInfo(info));
    const states = info.operators.flatMap(o => o.states).length;
    const named = info.operators.filter(o => o.uid !== '' || o.name !== '').length;
    session.note(
      `${output}: ${info.operators.length} operators (${named} named), ${states} states${info.classes.length === 0 ? '' : `, ${info.classes.length} classes`}`,
    );
    session.finish();
  } finally {
    pool?.close();
    snapshot.close();
  }
}

function write(file: string, bytes: Uint8Array): void {
  const part = `${file}.part`;
  try {
    writeFileSync(part, bytes);
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw fileError(error, file);
  }
}
