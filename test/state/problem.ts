import { StateQueryError } from '../../src/errors.js';

/** What `f` fails with, in one line; anything but a StateQueryError is thrown on. */
export function problem(f: () => unknown): string {
  try {
    f();
  } catch (error) {
    if (error instanceof StateQueryError) return error.describe();
    throw error;
  }
  return 'no error';
}
