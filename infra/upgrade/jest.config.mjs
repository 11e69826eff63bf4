import { testsOfKind } from '../tests-of-kind.mjs';

if (process.env.PREVIOUS_RELEASE === undefined) {
  throw new Error('Run these tests with `npm run test:upgrade`.');
}

/** Tests that need the previous release. */
export default testsOfKind('upgrade');
