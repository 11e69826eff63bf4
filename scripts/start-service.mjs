// `npm run start:identity`, `npm run start:crm`: run one service as in production from this checkout,
// configured by the environment and without embedded parts. This process is replaced by the service, so signals
// reach it directly.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap, root } from './bootstrap.mjs';

const [app] = process.argv.slice(2);
bootstrap({ bundle: true });
process.env.NODE_ENV ??= 'production';
const bundle = pathToFileURL(join(root, `apps/${app}/dist/bundle/`));
const { readConfig } = await import(new URL('config.js', bundle).href);
try {
  readConfig(process.env);
} catch (error) {
  console.error(`${app} cannot start. ${error.message}

docs/configuration.md describes every setting, and docs/deployment.md a whole deployment.
For development, npm start brings its own PostgreSQL and broker, and npm run dev:${app} its own PostgreSQL.`);
  process.exit(1);
}
await import(new URL('main.js', bundle).href);
