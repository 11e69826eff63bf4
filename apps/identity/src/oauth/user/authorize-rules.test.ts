import { startAuthorization } from '../../testing/authorization.ts';
import { expectDirect, type Fields } from '../../testing/code-flow.ts';

const { identity, flow, client, ask, askAnonymously } = await startAuthorization();
afterAll(() => identity.stop());

describe('PKCE is required of every client', () => {
  test.each<[string, Fields]>([
    ['code_challenge_method other than S256', { code_challenge_method: 'S512' }],
    ['code_challenge_method plain', { code_challenge_method: 'plain' }],
    ['code_challenge_method missing', { code_challenge_method: undefined }],
    ['code_challenge missing', { code_challenge: undefined }],
    ['both missing', { code_challenge: undefined, code_challenge_method: undefined }],
    ['a code_challenge that is too short', { code_challenge: 'short' }],
    ['a code_challenge of other characters', { code_challenge: `${'ä'.repeat(43)}` }],
  ])('%s is 400, without a redirect', async (_what, changes) => {
    const clients = [client, await flow.client({ isPublic: true })];
    for (const as of clients) expectDirect(await ask(changes, as));
    expectDirect(await askAnonymously(changes));
  });
});

describe('the request of a confidential client', () => {
  test('with a client_secret in the query is 400', async () => {
    expectDirect(await ask({ client_secret: client.secret ?? '' }));
    expectDirect(await askAnonymously({ client_secret: '' }));
  });
});

describe('redirect_uri must equal the registered URI exactly', () => {
  const registered = 'http://127.0.0.1:3000/callback';
  test.each([
    'http://127.0.0.1:3001/callback',
    'http://127.0.0.1/callback',
    'http://localhost:3000/callback',
    'http://127.0.0.1:3000/callback/',
    'http://127.0.0.1:3000/callback?x=1',
    'http://127.0.0.1:3000/Callback',
    'http://127.0.0.1:3000/callback#x',
    'http://user@127.0.0.1:3000/callback',
    'http://127.0.0.1:3000/*',
    'https://evil.test/',
    'javascript:alert(1)',
    'no address',
  ])('%s is 400, without a redirect', async (redirect_uri) => {
    for (const isPublic of [true, false]) {
      const as = await flow.client({ isPublic, redirectUris: [registered] });
      expectDirect(await ask({ redirect_uri }, as), 'invalid_redirect_uri');
      expect(flow.told(await ask({}, as)).get('code')).toMatch(/\S/);
    }
  });

  test('a missing one is 400, even if the client has only one', async () => {
    expectDirect(await ask({ redirect_uri: undefined }));
  });

  test('a URI with a custom scheme is accepted if it is registered', async () => {
    const redirectUris = ['test.tessera.mobile:/callback', 'http://[::1]:9/callback'];
    const mobile = await flow.client({ isPublic: true, redirectUris });
    for (const redirect_uri of redirectUris) {
      const { headers } = await ask({ redirect_uri }, mobile);
      expect(headers.location?.split('?')[0]).toBe(redirect_uri);
    }
  });
});

describe('the client', () => {
  test.each([undefined, 'nobody', 'no\u00e9body'])('%s is 400', async (client_id) => {
    const answer = await ask({ client_id });
    expect([answer.status, answer.body.success]).toEqual([400, false]);
    expect(answer.headers).not.toHaveProperty('location');
  });

  test('for services cannot use the code flow', async () => {
    const { clientId } = await identity.people.application('identity.tenants.list');
    expectDirect(await ask({ client_id: clientId }), 'invalid_client');
  });

  test('without a redirect URI cannot use the code flow yet', async () => {
    const as = await flow.client({ redirectUris: [] });
    expectDirect(await ask({ redirect_uri: 'https://panel.test/callback' }, as), 'invalid_client');
  });
});

describe('the implicit grant is disabled', () => {
  test.each(['token', 'id_token', 'id_token token', 'code token', 'code id_token', 'none', 'x'])(
    'response_type=%s redirects with unsupported_response_type',
    async (response_type) => {
      const answer = await ask({ response_type, scope: 'openid', nonce: 'n' });
      expect(answer.status).toBe(302);
      const told = flow.told(answer);
      expect([told.get('error'), told.get('iss')]).toEqual([
        'unsupported_response_type',
        'https://identity.test',
      ]);
      expect(answer.headers.location).not.toMatch(/code=|access_token=|id_token=/);
    },
  );

  test.each(['form_post', 'fragment', 'jwt', 'x'])(
    'a response mode other than query (response_mode=%s) is 400',
    async (response_mode) => {
      expectDirect(await ask({ response_mode }));
    },
  );
});

describe('a hint to skip consent', () => {
  test.each<Fields>([
    { approve: 'true' },
    { approved: '1' },
    { consent: 'skip' },
    { skip_consent: 'true' },
    { prompt: 'none', approve: '1' },
  ])('%j has no effect', async (hint) => {
    const untrusted = await flow.client({ isTrusted: false });
    const answer = await ask({ scope: 'openid', ...hint }, untrusted);
    expect(answer.headers.location).not.toContain('code=');
    if (!hint.prompt) expect(answer.headers.location).toContain('/consent/');
    else expect(flow.told(answer).get('error')).toBe('consent_required');
  });
});
