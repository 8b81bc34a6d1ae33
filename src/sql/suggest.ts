/** "Did you mean" for names in statements. */
export { nearest } from '../tables/suggest.js';
