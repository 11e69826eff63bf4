import { Forms } from './testing/forms.ts';
import { identityDatabase, startIdentity, type TestIdentity } from './testing/identity.ts';
import { severable } from './testing/severable.ts';

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity({ CORS_ORIGINS: 'https://app.test' });
});
afterAll(() => identity.stop());

describe('health', () => {
  test.each(['/api/health', '/livez', '/readyz'])('%s says who answers', async (path) => {
    const { status, body } = await identity.http.get(path);
    expect([status, body]).toEqual([
      200,
      {
        status: 'ok',
        service: 'identity',
        timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      },
    ]);
  });
});

describe('the root', () => {
  const titles = {
    en: 'Accounts and sign-in',
    hu: 'Fiókok és bejelentkezés',
    de: 'Konten und Anmeldung',
  };
  test.each(Object.entries(titles))('is a page for people in %s', async (language, title) => {
    const asked = { accept: 'text/html', 'accept-language': language };
    const { text, headers } = await identity.http.get('/').set(asked).expect(200);
    expect(text).toContain(`<h1>${title}</h1>`);
    for (const path of ['/sign-in', '/docs', '/api/health'])
      expect(text).toContain(`href="${path}"`);
    expect(headers.vary).toMatch(/Accept\b(?!-)/);
  });

  test('is JSON with the same links for programs', async () => {
    const { body } = await identity.http.get('/').expect(200);
    expect(body).toMatchObject({ success: true, data: { service: 'identity' } });
    for (const path of Object.values(body.data.links as Record<string, string>)) {
      await identity.http.get(path).expect(200);
    }
  });
});

describe('documents', () => {
  test('the OpenAPI document describes the routes, and the AsyncAPI document the events', async () => {
    const { body } = await identity.http.get('/docs/api.json');
    expect(body).toEqual(JSON.parse(JSON.stringify(identity.document)));
    expect(Object.keys(body.paths)).toContain('/api/auth/login');
    const events = await identity.http.get('/docs/events.json');
    expect(events.body.asyncapi).toMatch(/^3\./);
  });

  test('every list has meta', async () => {
    interface Schema {
      readonly $ref?: string;
      readonly type?: string;
      readonly properties?: Readonly<Record<string, Schema>>;
      readonly required?: readonly string[];
    }
    const { body } = await identity.http.get('/docs/api.json');
    const resolved = (schema: Schema = {}): Schema =>
      schema.$ref === undefined
        ? schema
        : resolved(body.components.schemas[schema.$ref.split('/').at(-1) ?? '']);
    const lists = Object.entries<Record<string, { responses: Record<string, object> }>>(
      body.paths,
    ).flatMap(([path, { get }]) => {
      const answer = Object(get?.responses['200']).content?.['application/json']?.schema;
      const { properties = {}, required = [] } = resolved(answer);
      return resolved(properties.data).type === 'array' ? [{ path, required }] : [];
    });
    expect(lists.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        '/api/devices',
        '/api/sessions',
        '/api/me/applications',
        '/api/me/tenants',
        '/api/permissions',
        '/api/tenants',
      ]),
    );
    const pages = lists.filter(({ path }) => !path.endsWith('/export'));
    expect(pages.filter(({ required }) => !required.includes('meta'))).toEqual([]);
  });

  test('/docs is an HTML page', async () => {
    const { status, text } = await identity.http.get('/docs');
    expect(status).toBe(200);
    expect(text).toContain('<!doctype html>');
  });

  test('the JWKS may be cached for five minutes and contains no private keys', async () => {
    const { status, body, headers } = await identity.http.get('/.well-known/jwks.json');
    expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=300']);
    const [key] = body.keys;
    expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  });
});

describe('a request that matches no route', () => {
  test('an unknown path is 404, another method 405 with the allowed methods', async () => {
    const unknown = await identity.http.get('/api/nothing');
    expect([unknown.status, unknown.body.error]).toEqual([404, 'not_found']);
    const method = await identity.http.put('/api/auth/login');
    expect([method.status, method.headers.allow]).toEqual([405, 'POST, OPTIONS']);
  });

  test.each([
    ['malformed JSON', 'application/json', '{"email":', 400],
    ['broken UTF-8', 'application/json', Buffer.from([0x22, 0xff, 0x22]), 400],
    ['no body', 'application/json', '', 422],
    ['another type', 'text/plain', 'email=a', 415],
    ['too much', 'application/json', `"${'x'.repeat(200_000)}"`, 413],
  ])('a body that is %s', async (_what, type, sent, expected) => {
    const answer = await fetch(`${identity.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: sent,
    });
    expect([answer.status, await answer.json()]).toMatchObject([expected, { success: false }]);
  });
});

describe('browsers', () => {
  test('of configured origins may call the API with credentials; others may not', async () => {
    const from = (origin: string) => identity.http.get('/api/health').set('origin', origin);
    const { headers } = await from('https://app.test');
    expect(headers['access-control-allow-origin']).toBe('https://app.test');
    expect(headers['access-control-allow-credentials']).toBe('true');
    const stranger = await from('https://evil.test');
    expect(stranger.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('get no CORS headers from pages and redirects, with or without a preflight request', async () => {
    const cookie = await new Forms(identity).signIn((await identity.people.user()).email);
    const sent = { origin: 'https://app.test', cookie };
    for (const path of [
      '/',
      '/account',
      '/account/two-factor/set-up',
      '/account/two-factor/recovery-codes',
      '/account/devices',
      '/account/activity',
      '/session',
      '/sign-in',
      '/password/reset?token=x',
      '/consent/x',
      '/continue',
      '/.well-known/change-password',
      '/oauth/authorize?client_id=x',
      '/oauth/authorize/x',
      '/pictures/x/256',
      '/assets/pages.css',
      '/docs',
      '/account/nothing',
      '/oauth/nothing',
    ]) {
      for (const method of ['get', 'head', 'post', 'delete', 'options'] as const) {
        const answer = await identity.http[method](path).set(sent).redirects(0);
        const preflight = await identity.http
          .options(path)
          .set({ ...sent, 'access-control-request-method': method.toUpperCase() });
        for (const { headers } of [answer, preflight]) {
          const names = Object.keys(headers).filter((name) => name.startsWith('access-control'));
          expect([method, path, names]).toEqual([method, path, []]);
        }
      }
    }
  });

  test.each([
    '/api/me',
    '/api/nothing',
    '/oauth/token',
    '/oauth/revoke',
    '/api/oauth/token',
    '/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server',
    '/.well-known/jwks.json',
    '/docs/api.json',
    '/docs/events.json',
  ])('may read %s, which scripts call', async (path) => {
    const { headers } = await identity.http.get(path).set('origin', 'https://app.test');
    expect(headers['access-control-allow-origin']).toBe('https://app.test');
    expect(headers['content-type']).toContain('json');
  });

  test('neither store a response nor run anything in it', async () => {
    const { headers } = await identity.http.get('/api/me');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['x-powered-by']).toBeUndefined();
  });
});

describe('limits', () => {
  test('count a person across all tokens, and the routes of services separately', async () => {
    const limited = await startIdentity({
      RATE_LIMIT_DEFAULT: '3',
      RATE_LIMIT_SERVICE_PRINCIPAL: '2',
    });
    try {
      const user = await limited.people.user();
      const bearers = [await limited.people.signIn(user), await limited.people.signIn(user)];
      const statuses = async (path: string, times: number) => {
        const found = [];
        for (let i = 0; i < times; i += 1) {
          found.push((await limited.http.get(path).set(bearers[i % 2] ?? {})).status);
        }
        return found;
      };
      expect(await statuses('/api/me', 4)).toEqual([200, 200, 200, 429]);
      expect(await statuses('/api/user', 3)).toEqual([200, 200, 429]);
      const other = await limited.people.signIn(await limited.people.user());
      expect((await limited.http.get('/api/me').set(other)).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });
});

describe('without its database', () => {
  test('identity responds with 503, never 401, is live but not ready, and works again when the database is back', async () => {
    const way = await severable(await identityDatabase());
    const cut = await startIdentity({ DATABASE_URL: way.url });
    try {
      const bearer = await cut.people.signIn(await cut.people.user());
      await way.cut();
      const credentials = { email: 'ada@example.test', password: 'x' };
      for (const answer of [
        await cut.http.get('/api/me').set(bearer),
        await cut.http.post('/api/auth/login').send(credentials),
        await cut.http.post('/api/auth/logout').set(bearer),
      ]) {
        const { status, body, headers } = answer;
        expect([status, body.error, headers['retry-after']]).toEqual([
          503,
          'database_unavailable',
          '1',
        ]);
      }
      expect((await cut.http.get('/livez')).status).toBe(200);
      expect((await cut.http.get('/readyz')).status).toBe(503);

      await way.mend();
      expect((await cut.http.get('/api/me').set(bearer)).status).toBe(200);
      expect((await cut.http.get('/readyz')).status).toBe(200);
    } finally {
      await cut.stop();
      await way.cut();
    }
  });
});
