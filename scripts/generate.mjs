// `npm run generate`: writes everything that is generated and committed: the OpenAPI documents from the
// route tables, the AsyncAPI document from the contracts, the clients from the OpenAPI documents.
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
    // A field with a default may be left out of what is sent.
    '--default-non-nullable=false',
  ]);
}
