import { startAuthorization } from '../../testing/authorization.ts';
import { type Fields, oauthRefusal } from '../../testing/code-flow.ts';

const { identity, flow, client, cookie, challenge, ask } = await startAuthorization();
afterAll(() => identity.stop());

const fieldsOf = (changes: Fields = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(flow.query(client, challenge, { state: 'a b&c=d+é', ...changes })).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );

/** Sends the form of another site, which comes without the cookie of the session. */
const send = (body: string | object, type = 'form') =>
  identity.http
    .post('/oauth/authorize')
    .set({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })
    .redirects(0)
    .type(type)
    .send(body);

/** Follows the redirect as the browser does, with the cookie of the session. */
const follow = ({ headers }: { readonly headers: Record<string, string> }) => {
  const { origin, pathname, search } = new URL(headers.location ?? '');
  expect(origin).toBe('https://identity.test');
  return identity.http
    .get(pathname + search)
    .set('cookie', cookie)
    .redirects(0);
};

describe('an authorization request that is sent as a form', () => {
  test.each(['form', 'json'])('continues by GET, and gives a code (%s)', async (type) => {
    const answer = await send(fieldsOf(), type);
    expect(answer.status).toBe(303);
    const told = flow.told(await follow(answer));
    expect(told.get('code')).toMatch(/\S/);
    expect(told.get('state')).toBe('a b&c=d+é');
  });

  test('gets the same answer as by GET', async () => {
    for (const changes of [
      { scope: 'unknown' },
      { response_type: 'token' },
      { prompt: 'none', max_age: '0', scope: 'openid' },
      { redirect_uri: 'https://evil.test/' },
      { code_challenge: undefined },
      { code_challenge_method: 'plain' },
      { client_id: 'nobody' },
    ] as Fields[]) {
      const state = 's';
      const byGet = await ask({ state, ...changes });
      const byForm = await follow(await send(fieldsOf({ state, ...changes })));
      expect([byForm.status, byForm.headers.location, byForm.body]).toEqual([
        byGet.status,
        byGet.headers.location,
        byGet.body,
      ]);
    }
  });

  test('goes to the sign-in without a session, and returns with the parameters', async () => {
    const { headers } = await send(fieldsOf());
    const { pathname, search } = new URL(headers.location ?? '');
    const answer = await identity.http.get(pathname + search).redirects(0);
    const page = new URL(answer.headers.location ?? '');
    const returnTo = new URL(page.searchParams.get('return_to') ?? '');
    expect(page.pathname).toBe('/sign-in');
    expect(Object.fromEntries(returnTo.searchParams)).toEqual(fieldsOf());
  });

  test('takes its parameters from the body alone, and ignores unknown ones', async () => {
    const answer = await identity.http
      .post('/oauth/authorize?state=other&client_id=other')
      .redirects(0)
      .type('form')
      .send({ ...fieldsOf(), approve: 'true', authenticated_after: '1' });
    const { searchParams } = new URL(answer.headers.location ?? '');
    expect(Object.fromEntries(searchParams)).toEqual(fieldsOf());
  });

  test.each([
    ['a secret', () => `${new URLSearchParams({ ...fieldsOf(), client_secret: 'x' })}`],
    ['a repeated parameter', () => `${new URLSearchParams(fieldsOf())}&state=b`],
    ['a control character', () => `${new URLSearchParams(fieldsOf({ state: 'a\u0000' }))}`],
    [
      'another response_mode',
      () => `${new URLSearchParams(fieldsOf({ response_mode: 'fragment' }))}`,
    ],
  ])('is 400 with %s', async (_what, body) => {
    const answer = await send(body());
    expect([answer.status, answer.body]).toEqual([400, oauthRefusal('invalid_request')]);
    expect(answer.headers).not.toHaveProperty('location');
  });

  test('is 413 if it does not fit into a URL, and 415 as another type', async () => {
    for (const length of [8200, 200_000]) {
      const { status, headers } = await send(fieldsOf({ state: 'x'.repeat(length) }));
      expect([length, status, headers.location]).toEqual([length, 413, undefined]);
    }
    expect((await send('client_id=a', 'text/plain')).status).toBe(415);
  });

  test('is a page for people if it is invalid', async () => {
    const answer = await send(fieldsOf({ client_secret: 'x' })).set('accept', 'text/html');
    expect([answer.status, answer.type]).toEqual([400, 'text/html']);
  });
});
