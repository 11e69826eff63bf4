// `npm run verify:containers`: builds the images of both services, starts docker-compose.yml in a Docker engine
// and verifies that it works as described in the README. `-- --own-engine` does not use a running engine.
import { runFromSource } from '../scripts/from-source.mjs';

runFromSource('infra/containers/main.mjs', process.argv.slice(2));
