// Writes the files generated from the sources: interface documents and the table of settings.
import { writeFileSync } from 'node:fs';
import { variables as crmVariables } from '../apps/crm/src/config.ts';
import * as crm from '../apps/crm/src/document.ts';
import { variables as identityVariables } from '../apps/identity/src/config.ts';
import * as identity from '../apps/identity/src/document.ts';
import { asyncapiDocument, crmAsyncapiDocument } from '../packages/contracts/src/index.ts';
import type { Fields } from '../packages/fields/src/index.ts';
import { dashboards } from '../packages/observability/src/index.ts';

const write = (path: string, text: string): void => {
  writeFileSync(new URL(`../${path}`, import.meta.url), text);
};
const writeJson = (path: string, document: object): void => {
  write(path, `${JSON.stringify(document, null, 2)}\n`);
};

const defaultOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(',');
  return value === undefined ? '' : `\`${value}\``;
};

const settings = (name: string, variables: Fields): string => {
  const rows = Object.entries(variables).map(([variable, { json, absent }]) => {
    const standard = absent ? defaultOf(json.default) : '**required**';
    return `| \`${variable}\` | ${standard} | ${json.description ?? ''} |`;
  });
  return `## ${name}\n\n| variable | default | meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
};

for (const [name, model] of Object.entries(dashboards())) {
  writeJson(`infra/observability/dashboards/${name}`, model);
}
writeJson('apps/identity/openapi.json', identity.document());
writeJson('apps/crm/openapi.json', crm.document());
writeJson('packages/contracts/asyncapi.json', asyncapiDocument());
writeJson('apps/crm/asyncapi.json', crmAsyncapiDocument());
write(
  'docs/configuration.md',
  [
    '# Configuration\n',
    'Each service reads its environment once at the start. If variables are missing or invalid, it exits with one',
    'message that names all of them. Lists are separated by commas. `npm run generate` writes this page.\n',
    'Every variable can also be read from a file: `DATABASE_URL_FILE=/run/secrets/database-url` sets',
    '`DATABASE_URL` to the content of that file, without a trailing line break. Use this for secrets, because',
    'environments are visible in process lists, crash reports and `docker inspect`.\n',
    settings('identity', identityVariables),
    settings('CRM', crmVariables),
  ].join('\n'),
);
