/** What functions do with a mixed argument: take its JSON, give it back, or refuse it. All others take its text. */

/** functions that want JSON of a mixed argument, beside json_* */
export const WANT_JSON: ReadonlySet<string> = new Set(['->', '->>', 'to_json', 'from_json', 'from_json_strict', 'typeof', 'row_to_json']);
/** functions that give a mixed argument back */
export const PASS_MIXED: ReadonlySet<string> = new Set([
  'any_value',
  'arbitrary',
  'first',
  'last',
  'first_value',
  'last_value',
  'nth_value',
  'lag',
  'lead',
  'arg_max',
  'argmax',
  'max_by',
  'arg_min',
  'argmin',
  'min_by',
]);
export const LIKES: ReadonlySet<string> = new Set([
  ...['~~', '!~~', '~~*', '!~~*', '~~~', 'like_escape', 'not_like_escape', 'ilike_escape', 'not_ilike_escape'],
  ...['regexp_full_match', 'regexp_matches', 'starts_with', 'prefix', '^@', 'ends_with', 'suffix', 'contains'],
]);
export const COLLECT: ReadonlySet<string> = new Set(['list', 'array_agg']);
/** what list(x ORDER BY x) is turned into, and other ways to order a list */
export const LIST_ORDERED: ReadonlySet<string> = new Set(
  ['sort', 'reverse_sort', 'grade_up', 'min', 'max', 'sum', 'avg', 'median'].flatMap(n => [`list_${n}`, `array_${n}`]),
);
/** functions that compare or calculate: refused on a mixed column */
export const ORDERED: ReadonlySet<string> = new Set([
  ...['min', 'max', 'sum', 'avg', 'mean', 'median', 'product', 'fsum', 'sumkahan', 'kahan_sum', 'favg', 'sum_no_overflow'],
  ...['quantile', 'quantile_cont', 'quantile_disc', 'approx_quantile', 'reservoir_quantile', 'mad', 'stddev', 'stddev_pop'],
  ...['stddev_samp', 'var_pop', 'var_samp', 'variance', 'skewness', 'kurtosis', 'kurtosis_pop', 'sem', 'corr', 'covar_pop'],
  ...['covar_samp', 'regr_slope', 'regr_intercept', 'greatest', 'least', 'histogram', 'abs', 'round', 'floor', 'ceil'],
  ...['ceiling', 'trunc', 'sqrt', 'ln', 'log', 'exp', 'sign', 'mod', 'pow', 'power', 'add', 'subtract', 'multiply', 'divide'],
  ...['+', '-', '*', '/', '//', '%', '**', '^', '&', '|', '<<', '>>', '~', '@'],
]);
