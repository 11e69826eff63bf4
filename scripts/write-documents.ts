// Writes what is generated from the sources: documents of the interfaces, and the table of settings.
import { writeFileSync } from 'node:fs';
import { variables as crmVariables } from '../apps/crm/src/config.ts';
import * as crm from '../apps/crm/src/document.ts';
import { variables as identityVariables } from '../apps/identity/src/config.ts';
import * as identity from '../apps/identity/src/document.ts';
import { asyncapiDocument } from '../packages/contracts/src/index.ts';
import type { Fields } from '../packages/fields/src/index.ts';

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

writeJson('apps/identity/openapi.json', identity.document());
writeJson('apps/crm/openapi.json', crm.document());
writeJson('packages/contracts/asyncapi.json', asyncapiDocument());
write(
  'docs/configuration.md',
  [
    '# Configuration\n',
    'Each service reads its environment once, at the start, and ends with one message that names every',
    'variable that does not fit. Lists are separated by commas. This page is written by `npm run generate`.\n',
    'Every variable can also be given in a file: `DATABASE_URL_FILE=/run/secrets/database-url` makes that file',
    'the value of `DATABASE_URL`, without the line break at its end. Use it for secrets, since environments are',
    'visible in process lists, crash reports and `docker inspect`.\n',
    settings('identity', identityVariables),
    settings('CRM', crmVariables),
  ].join('\n'),
);
