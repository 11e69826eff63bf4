import { migrate } from '../migrations.ts';

/** An instance that migrates a database, as a process of its own. */
const { DATABASE_URL: url = '', DIRECTORY: directory = '' } = process.env;
await migrate(url, directory);
