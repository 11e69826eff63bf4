// `npm run test:postgres15`: the tests that depend on PostgreSQL most, on PostgreSQL 15, the oldest supported
// release (npm test runs on 18). Needs Debian's or Ubuntu's package postgresql-15, or the directory of another
// installation's programs in POSTGRES15_BINARIES. Further arguments go to jest.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { bootstrap, jest } from './bootstrap.mjs';

const directory = process.env.POSTGRES15_BINARIES ?? '/usr/lib/postgresql/15/bin';
const { stdout } = spawnSync(join(directory, 'postgres'), ['--version'], { encoding: 'utf8' });
if (!/\b15\.\d+/.test(stdout ?? '')) {
  console.error(
    `${directory} has no PostgreSQL 15. Install postgresql-15, or set POSTGRES15_BINARIES to the directory ` +
      'with initdb and postgres.',
  );
  process.exit(1);
}
bootstrap();
console.log(stdout.trim());
process.env.TEST_POSTGRES_BINARIES = directory;
process.env.TEST_POSTGRES_RELEASE = '15';
jest('--config=infra/postgres15/jest.config.mjs');
