// `npm run identity-admin -- <command>`: runs `identity-admin` on the database of the local system, or on
// DATABASE_URL. `npm run identity-admin -- --help` lists the commands.
import { runFromSource } from './from-source.mjs';

runFromSource('packages/local-stack/src/administer-main.ts', process.argv.slice(2));
