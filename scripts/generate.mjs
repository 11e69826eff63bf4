// `npm run generate`: generates all committed files: OpenAPI documents from the routes, the AsyncAPI documents
// from the contracts, Grafana dashboards, and clients from the OpenAPI documents.
import { bootstrap, run } from './bootstrap.mjs';

bootstrap();
run(process.execPath, ['--conditions=source', '--import', 'tsx', 'scripts/write-documents.ts']);
const described = {
  identity: 'apps/identity/openapi.json',
  crm: 'apps/crm/openapi.json',
  'deployment-automation': 'packages/contracts/deployment-automation.openapi.json',
};
for (const [service, document] of Object.entries(described)) {
  run(process.execPath, [
    'node_modules/openapi-typescript/bin/cli.js',
    document,
    '--output',
    `packages/${service}-client/src/schema.ts`,
    // Fields with a default are optional in requests.
    '--default-non-nullable=false',
  ]);
}
