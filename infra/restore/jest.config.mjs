import { testsOfKind } from '../tests-of-kind.mjs';

if (process.env.TEST_POSTGRES_BINARIES === undefined) {
  throw new Error('Run these tests with `npm run verify:restore`.');
}

/** Restores a backup of CRM's database to a time; needs `pg_basebackup`. */
export default testsOfKind('restore');
