import { testsOfKind } from '../tests-of-kind.mjs';

/** Tests that need PgBouncer. */
export default testsOfKind('pgbouncer');
