/** From reading options to where names from outside the snapshot come from. */
import { type NameSources, readText } from '../stateinfo/sources.js';
import type { ReadingFlags } from './options.js';

export function nameSources(flags: ReadingFlags): NameSources {
  return {
    ...(flags.names === undefined ? {} : { names: flags.names }),
    ...(flags.uids === undefined ? {} : { uids: flags.uids }),
    ...(flags.plan === undefined ? {} : { plan: flags.plan }),
    ...(flags.stateInfo === undefined ? {} : { stateInfo: flags.stateInfo }),
    guessUids: flags.guessUids === true,
  };
}

export const readUids = readText;
