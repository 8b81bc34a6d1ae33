/** "Did you mean": the nearest of some names, by edits. */

/** Edits between two names (insert, delete, replace, swap of neighbours), at most `limit` + 1. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let previous: number[] = [];
  let current = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let k = 1; k <= b.length; k++) {
      const replace = current[k - 1] + (a[i - 1] === b[k - 1] ? 0 : 1);
      let best = Math.min(replace, current[k] + 1, next[k - 1] + 1);
      if (i > 1 && k > 1 && a[i - 1] === b[k - 2] && a[i - 2] === b[k - 1]) best = Math.min(best, previous[k - 2] + 1);
      next.push(best);
    }
    previous = current;
    current = next;
  }
  return current[b.length];
}

/** The nearest name, without case; undefined when none is near. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase();
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  let best: string | undefined;
  let bestScore = limit + 1;
  for (const candidate of candidates) {
    const lower = candidate.toLowerCase();
    let score = distance(wanted, lower, limit);
    // keyedstate for keyed_state, count for value_count
    if (lower.replaceAll('_', '') === wanted.replaceAll('_', '')) score = Math.min(score, 0.5);
    if (score < bestScore) {
      best = candidate;
      bestScore = score;
    }
  }
  return best;
}
