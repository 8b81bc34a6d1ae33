/** `statequery inspect <file>` and `statequery inspect --serializer-snapshot FILE [--value FILE]` */
import { type Command, InvalidArgumentError } from 'commander';
import { CorruptError, UsageError } from '../../errors.js';
import { BIGINT, JSON_TYPE, JsonText, VARCHAR } from '../../types.js';
import { addOutputOptions, addReadingOptions, type OutputFlags, type ReadingFlags } from '../options.js';
import { Session } from '../session.js';

interface InspectFlags extends OutputFlags, ReadingFlags {
  readonly entries: number;
  readonly serializerSnapshot?: string;
  readonly value?: string;
}

const COLUMNS = [
  ['offset', BIGINT],
  ['length', BIGINT],
  ['field', VARCHAR],
  ['value', VARCHAR],
] as const;

function entriesOption(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY;
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('expected a whole number, or all.');
  return Number(text);
}

export function inspectCommand(program: Command): void {
  const command = program
    .command('inspect')
    .summary('annotated bytes of one file of a snapshot')
    .description(
      'Shows what stands where in a file: _metadata, keyed or operator state, a table (SST), MANIFEST, CURRENT, a changelog segment, channel state. Each byte is in one line; a line of length 0 is something inside the compressed bytes above it. With --serializer-snapshot: the serializer, SQL type and value of bytes that were cut out.',
    )
    .argument('[file]', 'file of a snapshot')
    .option('--entries <n>', 'entries shown, or all', entriesOption, 100)
    .option('--serializer-snapshot <file>', 'bytes of a serializer snapshot, as writeVersionedSnapshot writes it')
    .option('--value <file>', 'bytes of one value of that serializer')
    .action(async (path: string | undefined, flags: InspectFlags) => {
      const session = new Session(flags);
      if (flags.serializerSnapshot !== undefined) {
        if (path !== undefined) throw new UsageError('inspect takes a file or --serializer-snapshot, not both');
        await inspectSerializer(flags.serializerSnapshot, flags, session);
        return;
      }
      if (flags.value !== undefined) throw new UsageError('--value needs --serializer-snapshot');
      if (path === undefined)
        throw new UsageError('inspect needs a file', { hint: 'statequery files <snapshot> lists those of a snapshot' });
      await inspectOne(path, flags, session);
    });
  addOutputOptions(addReadingOptions(command));
}

async function inspectOne(path: string, flags: InspectFlags, session: Session): Promise<void> {
  const [{ inspectFile }, { openOptions }, { resultOfObjects }, { ReadStats }] = await Promise.all([
    import('../../inspect/inspect.js'),
    import('../reading.js'),
    import('../table-rows.js'),
    import('../../io/source.js'),
  ]);
  const stats = new ReadStats();
  let damaged: string | undefined;
  const notes = inspectFile(path, { ...openOptions(flags, session, stats), entries: flags.entries });
  const rows = function* () {
    for (const { offset, length, field, value } of notes) {
      if (field === 'not readable') damaged ??= `${value} (byte ${offset})`;
      yield { offset: BigInt(offset), length: BigInt(length), field, value };
    }
  };
  await session.write(resultOfObjects(COLUMNS, rows()));
  session.finish(stats);
  if (damaged !== undefined) throw new CorruptError(damaged, { file: path });
}

async function inspectSerializer(path: string, flags: InspectFlags, session: Session): Promise<void> {
  const [{ openFile }, { inspectionJson, inspectSnapshot }, { openOptions }, { resultOfObjects }] = await Promise.all([
    import('../../io/source.js'),
    import('../../serializers/inspect.js'),
    import('../reading.js'),
    import('../table-rows.js'),
  ]);
  const { classes } = openOptions(flags, session);
  const readWhole = (file: string): Uint8Array => {
    const source = openFile(file);
    try {
      return source.read(0, source.size);
    } finally {
      source.close();
    }
  };
  const names = { snapshotFile: path, ...(flags.value === undefined ? {} : { valueFile: flags.value }) };
  const value = flags.value === undefined ? undefined : readWhole(flags.value);
  const found = inspectSnapshot(readWhole(path), value, classes === undefined ? {} : { classes }, names);
  if (session.format === 'json') await session.print(`${inspectionJson(found)}\n`);
  else if (session.format === 'table' || session.format === 'box') {
    const lines = [`serializer  ${found.serializer}`, `type        ${found.type}`];
    if (found.value !== undefined) lines.push(`value       ${found.value}`);
    if (found.reason !== undefined) lines.push(`reason      ${found.reason}`);
    lines.push(`left over   ${found.left_over} bytes`);
    await session.print(`${lines.join('\n')}\n`);
  } else
    await session.write(
      resultOfObjects(
        [
          ['serializer', VARCHAR],
          ['type', VARCHAR],
          ['value', JSON_TYPE],
          ['left_over', BIGINT],
        ],
        [
          {
            serializer: found.serializer,
            type: found.type,
            value: found.value === undefined ? null : new JsonText(found.value),
            left_over: BigInt(found.left_over),
          },
        ],
      ),
    );
  session.finish();
  if (found.left_over > 0)
    throw new CorruptError(`${found.left_over} bytes left over`, { file: value === undefined ? path : (flags.value ?? path) });
}
