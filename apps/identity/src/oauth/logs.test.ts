import { createLogger } from '@tessera/http-kit';
import { type ServiceProcess, spawnService } from '@tessera/local-stack';
import { createDatabase } from '../database.ts';
import { digest, newSecret } from '../security/secrets.ts';
import { identityDatabase, testEnvironment } from '../testing/identity.ts';

/** Creates a system application in a database before identity starts. */
const makeApplication = async (url: string) => {
  const { pool, database } = createDatabase({ url, poolSize: 1 }, createLogger('test', 'silent'));
  const [client_id, client_secret] = ['pipeline', newSecret()];
  const secretHash = digest(client_secret);
  const scopes = ['identity.tenants.list'];
  await database.systemApplication.create({
    data: { clientId: client_id, name: 'Pipeline', secretHash, scopes },
  });
  await database.$disconnect();
  await pool.end();
  return { client_id, client_secret };
};

let identity: ServiceProcess | undefined;
afterEach(async () => {
  identity?.child.kill('SIGKILL');
  await identity?.ended;
});

test('the log contains requests and rejections, but no secrets and tokens at any level', async () => {
  const url = await identityDatabase();
  const application = await makeApplication(url);
  identity = spawnService('identity', { ...testEnvironment(url), LOG_LEVEL: 'trace' });
  const address = await identity.ready();
  const post = async (path: string, body: object): Promise<{ access_token?: string }> => {
    const answer = await fetch(`${address}/api/oauth/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { access_token?: string };
  };
  const grant = { grant_type: 'client_credentials', ...application };
  const { access_token: token = '' } = await post('token', grant);
  expect(token).not.toBe('');
  const guess = newSecret();
  await post('introspect', { token, ...application });
  await post('introspect', { token, ...application, client_secret: guess });
  await post('token', { ...grant, client_secret: guess });
  await post('token', { ...grant, client_id: 7 });
  await post('revoke', { token, ...application });
  identity.child.kill('SIGTERM');
  await identity.ended;

  const log = identity.logs();
  expect(log).toContain('"operation":"introspectSystemToken"');
  expect(log).toContain('"error":"invalid_client"');
  for (const secret of [token, application.client_secret, guess]) {
    expect(log.includes(secret)).toBe(false);
  }
});
