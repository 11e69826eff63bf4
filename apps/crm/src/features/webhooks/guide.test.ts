import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, until } from '@tessera/local-stack';
import { tenantForEachTest } from '../../testing/tenant.ts';

const { get, post } = tenantForEachTest(async () => ({
  OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
}));

/** The repository; tests run in it. */
const GUIDE = join(process.cwd(), 'docs/webhooks.md');
const PACKAGE = join(process.cwd(), 'apps/crm/node_modules/standardwebhooks');

let directory: string;
let receiver: ChildProcess | undefined;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'webhook-guide-'));
});
afterEach(async () => {
  if (receiver?.exitCode === null) {
    receiver.kill();
    await once(receiver, 'exit');
  }
  await rm(directory, { recursive: true });
});

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false)).once('connect', () => socket.end());
  });

test('The receiver of the guide verifies what CRM sends, and nothing else', async () => {
  const examples = [...(await readFile(GUIDE, 'utf8')).matchAll(/^```js\n(.*?)^```$/gms)];
  expect(examples).toHaveLength(1);
  await mkdir(join(directory, 'node_modules'));
  await symlink(PACKAGE, join(directory, 'node_modules/standardwebhooks'));
  const program = join(directory, 'receiver.mjs');
  await writeFile(program, examples[0]?.[1] ?? '');

  const port = await freePort();
  const input = { url: `http://127.0.0.1:${port}/`, event_types: ['crm.contacts.created'] };
  const { body: endpoint } = await post('/api/crm/webhook-endpoints', input).expect(201);
  const { id, secret } = endpoint.data;
  const env = { PATH: process.env.PATH, PORT: `${port}`, WEBHOOK_SECRET: secret };
  receiver = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  receiver.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  await until(() => accepts(port));

  const { body: contact } = await post('/api/crm/contacts', { first_name: 'Ada' }).expect(201);
  const deliveries = `/api/crm/webhook-deliveries?endpoint_id=${id}&sort=created_at`;
  const statuses = async () =>
    (await get(deliveries)).body.data.map(
      (one: { response_status: number }) => one.response_status,
    );
  await until(async () => (await statuses())[0] === 204);
  await until(() => output === `crm.contacts.created ${contact.data.id}\n`);

  const unsigned = await fetch(input.url, { method: 'POST', body: '{"type":"x","data":{}}' });
  expect(unsigned.status).toBe(400);
  await post(`/api/crm/webhook-endpoints/${id}/rotate-secret`, { overlap_hours: 0 }).expect(200);
  await post('/api/crm/contacts', { first_name: 'Bob' }).expect(201);
  await until(async () => (await statuses())[1] === 400);
  expect(output.trim().split('\n')).toHaveLength(1);
});
