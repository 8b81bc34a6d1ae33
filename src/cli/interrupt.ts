/**
 * Signals while something runs: the first stops it through its own signal, so that it cleans up behind itself; a second Ctrl-C ends the
 * process at once. Exit codes as a shell has them: 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP.
 */

const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export async function interruptible<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let by: keyof typeof CODES = 'SIGINT';
  const handlers = (Object.keys(CODES) as (keyof typeof CODES)[]).map(name => {
    const stop = (): void => {
      if (controller.signal.aborted) process.exit(CODES[name]);
      by = name;
      controller.abort();
    };
    process.on(name, stop);
    return { name, stop };
  });
  try {
    return await run(controller.signal);
  } finally {
    for (const { name, stop } of handlers) process.off(name, stop);
    // what was asked to end by another signal than Ctrl-C ends with that signal's code, after cleaning up
    if (controller.signal.aborted && by !== 'SIGINT') process.exit(CODES[by]);
  }
}
