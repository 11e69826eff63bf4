import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '@tessera/local-stack';
import { browse } from '../../testing/browse.ts';
import { CodeFlow } from '../../testing/code-flow.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';

/** The repository; tests run in it. */
const GUIDE = join(process.cwd(), 'docs/sign-in.md');
const LIBRARY = join(process.cwd(), 'apps/identity/node_modules/openid-client');

let directory: string;
let identity: TestIdentity;
let application: ChildProcess | undefined;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sign-in-guide-'));
});
afterAll(async () => {
  if (application?.exitCode === null) {
    application.kill();
    await once(application, 'exit');
  }
  await identity?.stop();
  await rm(directory, { recursive: true });
});

/** Follows redirects like a browser with these cookies and those that it gets; returns the body of the last response. */
const open = async (address: string, cookies: readonly string[]): Promise<string> => {
  const { location, cookies: set, body } = await browse(address, cookies);
  if (location === undefined) return body;
  return open(new URL(location, address).href, [...cookies, ...set]);
};

test('The application of the guide signs a user in, and says what went wrong if they refuse', async () => {
  const examples = [...(await readFile(GUIDE, 'utf8')).matchAll(/^```js\n(.*?)^```$/gms)];
  expect(examples).toHaveLength(1);
  await mkdir(join(directory, 'node_modules'));
  await symlink(LIBRARY, join(directory, 'node_modules/openid-client'));
  const program = join(directory, 'app.mjs');
  await writeFile(program, examples[0]?.[1] ?? '');

  const [identityPort, port] = [await freePort(), await freePort()];
  const issuer = `http://127.0.0.1:${identityPort}`;
  const origin = `http://127.0.0.1:${port}`;
  identity = await startIdentity({ PORT: `${identityPort}`, ISSUER: issuer });
  const flow = new CodeFlow(identity);
  const tenant = await identity.people.tenant();
  const user = await identity.people.user({ tenant });
  const { clientId } = await flow.client({
    isPublic: true,
    redirectUris: [`${origin}/callback`],
  });
  application = spawn(process.execPath, [program], {
    env: { PATH: process.env.PATH, ISSUER: issuer, CLIENT_ID: clientId, PORT: `${port}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(application.stdout as NodeJS.ReadableStream), 'line');
  expect(line).toBe(`Open ${origin}/`);

  const signedIn = await open(`${origin}/`, [await flow.signIn(user)]);
  expect(JSON.parse(signedIn)).toMatchObject({
    sub: user.id,
    email: user.email,
    tenants: [tenant.slug],
  });
  expect((await fetch(`${origin}/`, { redirect: 'manual' })).headers.get('location')).toContain(
    `${issuer}/oauth/authorize?`,
  );

  const begun = encodeURIComponent(JSON.stringify({ expectedState: 'x' }));
  const refused = await fetch(
    `${origin}/callback?error=access_denied&state=x&iss=${encodeURIComponent(issuer)}`,
    { headers: { cookie: `sign_in=${begun}` } },
  );
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('access_denied');
});
