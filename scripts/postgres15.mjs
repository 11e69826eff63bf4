import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Makes the tests use PostgreSQL 15, the oldest supported release (they use 18 otherwise): the programs of Debian's
 * or Ubuntu's package postgresql-15, or those in the directory POSTGRES15_BINARIES.
 */
export const usePostgres15 = () => {
  const directory = process.env.POSTGRES15_BINARIES ?? '/usr/lib/postgresql/15/bin';
  const { stdout } = spawnSync(join(directory, 'postgres'), ['--version'], { encoding: 'utf8' });
  if (!/\b15\.\d+/.test(stdout ?? '')) {
    console.error(
      `${directory} has no PostgreSQL 15. Install postgresql-15, or set POSTGRES15_BINARIES to the directory ` +
        'with initdb and postgres.',
    );
    process.exit(1);
  }
  console.log(stdout.trim());
  process.env.TEST_POSTGRES_BINARIES = directory;
  process.env.TEST_POSTGRES_RELEASE = '15';
};
