import { testsOfKind } from '../tests-of-kind.mjs';

/** Tests that need a clamd. */
export default testsOfKind('clamd');
