/** Ctrl-C while something runs: the first stops it through its signal, the second ends the process at once. */

export async function interruptible<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort();
  };
  process.on('SIGINT', stop);
  try {
    return await run(controller.signal);
  } finally {
    process.off('SIGINT', stop);
  }
}
