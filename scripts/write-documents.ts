import { writeFileSync } from 'node:fs';
import * as crm from '../apps/crm/src/document.ts';
import * as identity from '../apps/identity/src/document.ts';
import { asyncapiDocument } from '../packages/contracts/src/index.ts';

const write = (path: string, document: object): void => {
  writeFileSync(new URL(`../${path}`, import.meta.url), `${JSON.stringify(document, null, 2)}\n`);
};

write('apps/identity/openapi.json', identity.document());
write('apps/crm/openapi.json', crm.document());
write('packages/contracts/asyncapi.json', asyncapiDocument());
