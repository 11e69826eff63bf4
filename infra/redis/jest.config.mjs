import { testsOfKind } from '../tests-of-kind.mjs';

/** Tests that need a Redis server. */
export default testsOfKind('redis');
