import { testsOfKind } from '../tests-of-kind.mjs';

/** Tests that need Chromium. */
export default testsOfKind('browser');
