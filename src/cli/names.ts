/** From reading options to names from outside the snapshot. */
import { type GatheredNames, gatherNames, type NameSources, readText } from '../stateinfo/sources.js';
import type { OpenOptions } from '../tables/snapshot.js';
import type { ReadingFlags } from './options.js';

/** What the options and the files beside a snapshot tell of its operators. @throws StateQueryError */
export function namesFor(path: string, flags: ReadingFlags, options: OpenOptions, more: NameSources = {}): Promise<GatheredNames> {
  return gatherNames(
    path,
    {
      ...(flags.names === undefined ? {} : { names: flags.names }),
      ...(flags.uids === undefined ? {} : { uids: flags.uids }),
      ...(flags.plan === undefined ? {} : { plan: flags.plan }),
      ...(flags.stateInfo === undefined ? {} : { stateInfo: flags.stateInfo }),
      guessUids: flags.guessUids === true,
      ...more,
    },
    options,
  );
}

export const readUids = readText;
