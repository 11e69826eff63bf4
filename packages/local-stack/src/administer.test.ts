import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { startPostgres, throwawaySettings } from './postgres.ts';

const main = fileURLToPath(new URL('administer-main.ts', import.meta.url));
const loader = import.meta.resolve('tsx');

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'tessera-administer-'));
});
afterEach(() => rm(directory, { recursive: true }));

const administer = async (args: string, environment: Record<string, string> = {}) => {
  const child = spawn(
    process.execPath,
    ['--conditions=source', '--import', loader, main, ...args.split(' ')],
    { env: { PATH: process.env.PATH, TESSERA_DATA: directory, ...environment } },
  );
  const [out, error, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { out, error, code: code as number | null };
};

test('identity-admin changes the local system while it is stopped, and leaves it stopped', async () => {
  const home = path.join(directory, 'postgres');
  const postgres = await startPostgres({ directory: home, settings: throwawaySettings });
  await postgres.createDatabase('identity');
  await postgres.stop();
  const local = { identity_url: 'http://127.0.0.1:4000' };
  await writeFile(path.join(directory, 'local.json'), JSON.stringify(local));

  const created = await administer(
    'create-client my-app --name App --public --redirect-uri http://127.0.0.1:3003/callback --json',
  );
  expect(created).toMatchObject({ code: 0, error: '' });
  const listed = await administer('list-clients --json');
  expect(JSON.parse(listed.out)).toEqual([expect.objectContaining({ client_id: 'my-app' })]);
  expect(await administer('delete-client nobody')).toMatchObject({ code: 1 });
  expect(await administer('no-such-command')).toMatchObject({ code: 2 });
});

test('identity-admin says what to do if the local system was never started', async () => {
  const { code, error } = await administer('list-clients');
  expect(error).toContain('run npm start once');
  expect(code).toBe(1);
});

test('identity-admin uses the environment unchanged if it names a database', async () => {
  const { code, error } = await administer('list-clients', { DATABASE_URL: 'not-an-address' });
  expect(error).not.toContain('npm start');
  expect(code).toBe(1);
});
