/** Colours, for terminals that have them: https://no-color.org and --no-color switch them off. */
import { Chalk, type ChalkInstance, supportsColor, supportsColorStderr } from 'chalk';

export type Paint = Pick<ChalkInstance, 'bold' | 'dim' | 'red' | 'yellow' | 'cyan' | 'green'>;

/** Paint for a stream; plain text where the stream is no terminal or colour is not wanted. */
export function paintFor(stream: 'stdout' | 'stderr', wanted: boolean): Paint {
  const support = stream === 'stdout' ? supportsColor : supportsColorStderr;
  const off = !wanted || (process.env['NO_COLOR'] ?? '') !== '' || support === false;
  return new Chalk({ level: off ? 0 : support.level });
}
