// `npm run identity-admin -- <command>`: administers identity's database: the one of the local system, or
// that of DATABASE_URL. `npm run identity-admin -- --help` lists the commands.
import { runFromSource } from './from-source.mjs';

runFromSource('packages/local-stack/src/administer-main.ts', process.argv.slice(2));
