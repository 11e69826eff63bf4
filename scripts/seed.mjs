// `npm run seed`: generates sample data. `npm run seed -- --help` lists the options.
import { runFromSource } from './from-source.mjs';

runFromSource('packages/seeding/src/cli.ts', process.argv.slice(2));
