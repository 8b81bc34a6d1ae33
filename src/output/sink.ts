/** Where output bytes go: a stream, with its back-pressure, and the end of a pipe that nobody reads any more. */
import type { Writable } from 'node:stream';

/** The reader of the output is gone (`| head`): not an error of ours, the program ends quietly. */
export class OutputClosed extends Error {
  constructor() {
    super('the output was closed');
    this.name = 'OutputClosed';
  }
}

export interface Sink {
  /** Takes the bytes; the promise, where there is one, has to be awaited before more are written. @throws OutputClosed */
  write(bytes: Uint8Array): void | Promise<void>;
}

/** Writes to `stream`. */
export function streamSink(stream: Writable): Sink {
  let failure: Error | undefined;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    failure = error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED' ? new OutputClosed() : error;
  });
  return {
    write(bytes) {
      if (failure !== undefined) throw failure;
      if (stream.destroyed || stream.writableEnded) throw new OutputClosed();
      if (bytes.length === 0 || stream.write(bytes)) return undefined;
      return new Promise((resolve, reject) => {
        const settle = (): void => {
          stream.off('drain', settle);
          stream.off('error', settle);
          stream.off('close', settle);
          if (failure !== undefined) reject(failure);
          else if (stream.destroyed) reject(new OutputClosed());
          else resolve();
        };
        stream.on('drain', settle);
        stream.on('error', settle);
        stream.on('close', settle);
      });
    },
  };
}
