// `npm run seed`: tenants, users and records of any number. `npm run seed -- --help` lists the options.
import { runFromSource } from './from-source.mjs';

runFromSource('packages/seeding/src/cli.ts', process.argv.slice(2));
