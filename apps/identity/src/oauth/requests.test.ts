import { until } from '@tessera/local-stack';
import { identityDatabase, startIdentity, type TestIdentity } from '../testing/identity.ts';
import { severable } from '../testing/severable.ts';

interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
}

/** A new system application with these scopes. */
const makeApplication = async (scope: string): Promise<Credentials> => {
  const { clientId, secret } = await identity.people.application(scope);
  return { client_id: clientId, client_secret: secret };
};

let identity: TestIdentity;
let application: Credentials;
beforeAll(async () => {
  identity = await startIdentity();
  application = await makeApplication('identity.tenants.list');
});
afterAll(() => identity.stop());

const FORM = 'application/x-www-form-urlencoded';
const endpoints = ['token', 'introspect', 'revoke'].map((name) => `/api/oauth/${name}`);
const complete = () => ({ grant_type: 'client_credentials', token: 'x', ...application });

const send = (path: string, body: string | Buffer, type: string) =>
  identity.http
    .post(path)
    .set('content-type', type)
    .serialize((raw) => raw as string)
    .send(body);

/** An error in the form of both OAuth and the API. */
const refused = (error: string) => {
  const description = expect.stringMatching(/\S/);
  return { success: false, error, error_description: description, message: description };
};

describe.each(endpoints)('%s', (path) => {
  test('without a client, or with an unknown one, is 401 with a challenge', async () => {
    const { client_id } = application;
    const attempts = [
      {},
      { client_id },
      { client_secret: 'x' },
      { client_id, client_secret: 'wrong' },
      { client_id: 'nobody', client_secret: 'x' },
      { client_id: 'no\u0000body', client_secret: 'x' },
      { client_id: '☃', client_secret: 'x' },
    ];
    for (const credentials of attempts) {
      const body = { grant_type: 'client_credentials', token: 'x', ...credentials };
      const answer = await identity.http.post(path).send(body);
      expect([credentials, answer.status, answer.body]).toEqual([
        credentials,
        401,
        refused('invalid_client'),
      ]);
      expect(answer.headers['www-authenticate']).toMatch(/^Basic realm="https:\/\/identity\.test"/);
      expect(answer.headers['cache-control']).toBe('no-store');
    }
  });

  test('with a wrong secret by HTTP Basic, or another scheme, is 401 with a challenge', async () => {
    const attempts = [`Basic ${Buffer.from('a:b').toString('base64')}`, 'Bearer x', 'Basic'];
    for (const authorization of attempts) {
      const answer = await identity.http.post(path).set({ authorization }).type('form').send({});
      expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
      expect(answer.headers['www-authenticate']).toMatch(/^Basic /);
    }
  });

  test.each([
    ['no colon', 'YWJj'],
    ['broken escapes', Buffer.from('%zz:x').toString('base64')],
    ['no base64', '%%%'],
    ['no secret', Buffer.from('pipeline:').toString('base64')],
  ])('with HTTP Basic that contains %s is 401', async (_what, basic) => {
    const authorization = `Basic ${basic}`;
    const answer = await identity.http.post(path).set({ authorization }).type('form').send({});
    expect([answer.status, answer.body]).toEqual([401, refused('invalid_client')]);
  });

  test('with another client in the body than in HTTP Basic is 400', async () => {
    const { client_id, client_secret } = application;
    const request = identity.http.post(path).auth(client_id, client_secret).type('form');
    const answer = await request.send({ ...complete(), client_id: 'x', client_secret: '' });
    expect([answer.status, answer.body]).toEqual([400, refused('invalid_request')]);
  });

  test('with credentials in two places at once is 400', async () => {
    const { client_id, client_secret } = application;
    const request = identity.http.post(path).auth(client_id, client_secret);
    const answer = await request.type('form').send(complete());
    expect([answer.status, answer.body]).toEqual([400, refused('invalid_request')]);
  });

  test.each([
    ['malformed JSON', '{', 'application/json'],
    ['JSON that is not an object', '[1]', 'application/json'],
    ['JSON that is null', 'null', 'application/json'],
    ['malformed UTF-8 in JSON', Buffer.from([0x7b, 0xff, 0x7d]), 'application/json'],
    ['malformed UTF-8 in a form', Buffer.from([0x61, 0x3d, 0xff]), FORM],
    ['a repeated parameter', 'client_id=a&client_id=b', FORM],
    ['a number for a text', '{"client_id":5}', 'application/json'],
    ['an unpaired surrogate', String.raw`{"client_id":"\ud800"}`, 'application/json'],
    [
      'an unpaired surrogate within a text',
      String.raw`{"client_id":"a\udc00b"}`,
      'application/json',
    ],
    ['an object instead of a string', '{"client_id":{"a":"b"}}', 'application/json'],
  ])('%s is 400', async (_what, body, type) => {
    const answer = await send(path, body, type);
    expect([answer.status, answer.body]).toEqual([400, refused('invalid_request')]);
  });

  test.each(['text/plain', 'multipart/form-data; boundary=x', 'application/xml', ''])(
    'a body of type "%s" is 415',
    async (type) => {
      const answer = await fetch(identity.url + path, {
        method: 'POST',
        headers: type ? { 'content-type': type } : {},
        body: new Uint8Array(Buffer.from('grant_type=client_credentials')),
      });
      expect([answer.status, await answer.json()]).toEqual([415, refused('invalid_request')]);
    },
  );

  test('a body in an unknown encoding is 415', async () => {
    const request = identity.http.post(path).set('content-encoding', 'lzma');
    const answer = await request.type('form').send(complete());
    expect([answer.status, answer.body]).toEqual([415, refused('invalid_request')]);
  });

  test('the longest documented parameters are never too large, however they are escaped', async () => {
    const parameters = { token: '😀'.repeat(8192), client_id: '😀'.repeat(200) };
    const answer = await send(path, `${new URLSearchParams(parameters)}`, FORM);
    expect([400, 401]).toContain(answer.status);
  });

  test('a body that is too large is 413', async () => {
    const answer = await send(path, `token=${'x'.repeat(200_000)}`, FORM);
    expect([answer.status, answer.body]).toEqual([413, refused('invalid_request')]);
  });

  test('another method is 405 and names the allowed one', async () => {
    const answer = await identity.http.get(path);
    expect([answer.status, answer.body]).toEqual([405, refused('method_not_allowed')]);
    expect(answer.headers.allow).toContain('POST');
  });

  test('sends no CORS headers', async () => {
    const request = identity.http.post(path).set('origin', 'https://elsewhere.test');
    const answer = await request.send(complete());
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('has the rate limits of routes for services', async () => {
    const own = await startIdentity({ RATE_LIMIT_SERVICE: '1' });
    expect((await own.http.post(path).send({})).status).toBe(401);
    const answer = await own.http.post(path).send({});
    await own.stop();
    expect([answer.status, answer.body]).toEqual([429, refused('rate_limited')]);
    expect(answer.headers).toHaveProperty('retry-after');
  });
});

describe('the parameters', () => {
  test('a required one that is missing or empty is named', async () => {
    const { client_id, client_secret } = application;
    for (const [path, parameter] of [
      ['/api/oauth/token', 'grant_type'],
      ['/api/oauth/introspect', 'token'],
      ['/api/oauth/revoke', 'token'],
    ] as const) {
      const body = { client_id, client_secret, [parameter]: '' };
      const answer = await identity.http.post(path).send(body);
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request']);
      expect(answer.body.message).toContain(parameter);
    }
  });

  test('an empty scope counts as none', async () => {
    const answer = await identity.http.post('/api/oauth/token').send({ ...complete(), scope: '' });
    expect(answer.body.scope).toBe('identity.tenants.list');
  });

  test('in the query they are ignored', async () => {
    const query = new URLSearchParams(complete()).toString();
    const answer = await identity.http.post(`/api/oauth/token?${query}`);
    expect(answer.status).toBe(401);
  });
});

describe('a change of the application', () => {
  test('takes effect soon, although applications are cached', async () => {
    const { database } = identity.context;
    const gone = await makeApplication('identity.tenants.list');
    const grant = () =>
      identity.http.post('/api/oauth/token').send({ grant_type: 'client_credentials', ...gone });
    expect((await grant()).status).toBe(200);
    await database.systemApplication.delete({ where: { clientId: gone.client_id } });
    await until(async () => (await grant()).status === 401);
  });
});

describe('without the database', () => {
  test('the endpoints respond with 503 and Retry-After', async () => {
    const way = await severable(await identityDatabase());
    const cut = await startIdentity({ DATABASE_URL: way.url });
    try {
      await way.cut();
      for (const path of endpoints) {
        const answer = await cut.http.post(path).send(complete());
        expect([answer.status, answer.body.success]).toEqual([503, false]);
        expect(answer.headers['retry-after']).toBe('1');
      }
    } finally {
      await cut.stop();
    }
  });
});
