import { readFileSync } from 'node:fs';
import { eventLoop, keepsEventLoop, type OpenApiDocument } from '@tessera/conformance';
import { DeploymentAutomationStandIn } from '@tessera/local-stack';
import { conformanceSubject } from './testing/conformance-subject.ts';
import { CrmStandIn } from './testing/crm.ts';
import { startIdentity, type TestIdentity } from './testing/identity.ts';

const document = JSON.parse(
  readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'),
) as OpenApiDocument;

/** The largest JSON body of the API. */
const BODY_BYTES = 100 * 1024;
/** The largest form of the OAuth endpoints and the pages. */
const FORM_BYTES = 128 * 1024;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

let identity: TestIdentity;
let subject: Awaited<ReturnType<typeof conformanceSubject>>;
const automation = new DeploymentAutomationStandIn();
const crm = new CrmStandIn();
beforeAll(async () => {
  await automation.start();
  await crm.start();
  const environment = { ...automation.environment, ...crm.environment };
  identity = await startIdentity(environment, {}, { checksResponses: false });
  subject = await conformanceSubject(identity);
});
afterAll(async () => {
  await identity.stop();
  await crm.stop();
  await automation.stop();
});

eventLoop(document, () => subject, { maxBytes: BODY_BYTES });

test.each([
  ['many fields', (bytes: number) => 'a=b&'.repeat(bytes / 4)],
  ['one field with many values', (bytes: number) => 'scope=a&'.repeat(bytes / 8)],
  [
    'many scopes',
    (bytes: number) => `grant_type=client_credentials&scope=${'a+'.repeat(bytes / 2 - 40)}`,
  ],
  ['many escapes', (bytes: number) => `token=${'%C3%A9'.repeat(bytes / 6 - 2)}`],
  ['nested keys', (bytes: number) => `a${'[a]'.repeat(bytes / 3 - 2)}=b`],
])('anonymous forms of %s keep the event loop for 20 ms at most', async (_what, formOf) => {
  const found: string[] = [];
  for (const path of [
    '/oauth/token',
    '/oauth/introspect',
    '/oauth/revoke',
    '/login',
    '/register',
  ]) {
    for (const bytes of [FORM_BYTES, BODY_BYTES]) {
      const body = Buffer.from(formOf(Math.floor(bytes)));
      const request = { method: 'POST', url: `${identity.url}${path}`, headers: FORM, body };
      found.push(...(await keepsEventLoop(`${path} of ${bytes} bytes`, request)));
    }
  }
  expect(found).toEqual([]);
});
