import { startAuthorization } from '../../testing/authorization.ts';
import { type Fields, oauthRefusal } from '../../testing/code-flow.ts';

const { identity, flow, client, cookie, challenge, ask, askAnonymously } =
  await startAuthorization();
afterAll(() => identity.stop());

describe('whatever is sent', () => {
  test.each<Fields>([
    { state: 'a\u0000b' },
    { nonce: '\u0000', scope: 'openid' },
    { scope: 'open\u0007id' },
    { request: 'a.b.c' },
    { request_uri: 'https://evil.test/request' },
    { registration: '{}' },
    { id_token_hint: 'a.b.c', scope: 'openid' },
    { scope: '"' },
    { state: '☃'.repeat(30) },
    { login_hint: 'a@b.test' },
  ])('%j does not cause an internal error', async (changes) => {
    for (const answer of [await ask(changes), await askAnonymously(changes)]) {
      expect([302, 400]).toContain(answer.status);
    }
  });

  test('a repeated parameter is rejected', async () => {
    const query = new URLSearchParams(flow.query(client, challenge) as Record<string, string>);
    for (const name of ['state', 'scope', 'redirect_uri', 'client_id', 'code_challenge_method']) {
      const { status, headers } = await identity.http
        .get(`/oauth/authorize?${query}&${name}=a&${name}=b`)
        .set('cookie', cookie)
        .redirects(0);
      expect([name, [302, 400].includes(status)]).toEqual([name, true]);
      expect(headers.location ?? '').not.toContain('code=');
    }
  });

  test('malformed percent-encoding does not cause an internal error', async () => {
    const { status } = await identity.http.get('/oauth/authorize?client_id=%ff&state=%');
    expect(status).toBe(400);
  });

  test('another method is 405 and names the allowed ones', async () => {
    const answer = await identity.http.put('/oauth/authorize').send({});
    expect([answer.status, answer.body]).toEqual([405, oauthRefusal('method_not_allowed')]);
    expect(answer.headers.allow).toBe('GET, POST, HEAD, OPTIONS');
  });
});
