import { createLogger } from '@tessera/http-kit';
import { CodeFlow } from '../../testing/code-flow.ts';
import { startIdentity } from '../../testing/identity.ts';

test('the log contains requests and rejections, but no codes, tokens and secrets at any level', async () => {
  const lines: string[] = [];
  const logger = createLogger('identity', 'trace', { write: (line) => void lines.push(line) });
  const identity = await startIdentity({}, { logger });
  const flow = new CodeFlow(identity);
  const client = await flow.client();
  const cookie = await flow.signIn(await identity.people.user());
  const state = 'state-that-nobody-else-knows';
  const given = await flow.code(client, cookie, { state, scope: 'openid' });
  const { body: tokens } = await flow.exchange(client, given);
  await flow.exchange(client, given);
  await flow.refresh({ ...client, secret: 'a-guess-at-the-secret' }, tokens.refresh_token);
  const query = flow.query(client, 'x'.repeat(43), { client_secret: client.secret ?? '' });
  await flow.authorize(query, cookie);
  await identity.stop();

  const log = lines.join('');
  expect(log).toContain('"operation":"authorize"');
  expect(log).toContain('"operation":"issueUserToken"');
  expect(log).toContain('"error":"invalid_grant"');
  expect(log).toContain('"error":"invalid_client"');
  const { access_token, refresh_token, id_token } = tokens;
  const secrets = [given.code, given.verifier, access_token, refresh_token, id_token, state];
  for (const secret of [...secrets, client.secret, 'a-guess', cookie.split('=')[1]]) {
    expect(log.includes(secret ?? '')).toBe(false);
  }
});
