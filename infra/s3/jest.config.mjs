import { testsOfKind } from '../tests-of-kind.mjs';

/** Tests that need a server that speaks S3. */
export default testsOfKind('s3');
