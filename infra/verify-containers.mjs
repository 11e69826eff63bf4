// `npm run verify:containers`: builds the images of both services, starts docker-compose.yml in a Docker
// engine and shows that it does what the README says. `-- --own-engine` uses no engine that runs already.
import { runFromSource } from '../scripts/from-source.mjs';

runFromSource('infra/containers/main.mjs', process.argv.slice(2));
