import request from 'supertest';
import { createApp } from './app.ts';
import { readConfig } from './config.ts';
import { createContext } from './context.ts';
import { startCrm, type TestCrm, testEnvironment } from './testing/crm.ts';

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm({ CORS_ORIGINS: 'https://app.test' });
});
afterAll(() => crm.stop());

describe('health', () => {
  test.each(['/api/crm/health', '/livez', '/readyz'])('%s says who answers', async (path) => {
    const { status, body } = await crm.http.get(path);
    expect([status, body]).toEqual([
      200,
      {
        status: 'ok',
        service: 'crm',
        timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      },
    ]);
  });
});

describe('the root', () => {
  test('is a page for people, and JSON with the same links for programs', async () => {
    const page = await crm.http.get('/').set('accept', 'text/html').expect(200);
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.headers.vary).toContain('Accept');
    const { body } = await crm.http.get('/').expect(200);
    expect(body.data).toMatchObject({ service: 'crm', version: expect.stringMatching(/^\d/) });
    for (const path of Object.values(body.data.links as Record<string, string>)) {
      expect(page.text).toContain(`href="${path}"`);
      await crm.http.get(path).expect(200);
    }
    await crm.http.get('/docs/service.css').expect(200);
  });
});

describe('documents', () => {
  test('the OpenAPI document describes the routes', async () => {
    const { body } = await crm.http.get('/docs/api.json');
    expect(body).toEqual(JSON.parse(JSON.stringify(crm.document)));
  });

  test('/docs is an HTML page', async () => {
    const { status, text } = await crm.http.get('/docs');
    expect(status).toBe(200);
    expect(text).toContain('<!doctype html>');
  });
});

describe('a request that matches no route', () => {
  test('an unknown path is 404', async () => {
    const { status, body } = await crm.http.get('/api/crm/nothing');
    expect([status, body]).toEqual([404, { message: expect.any(String), error: 'not_found' }]);
  });

  test('another method is 405 with the allowed methods', async () => {
    const { status, body, headers } = await crm.http.put('/api/crm/health');
    expect([status, body.error, headers.allow]).toEqual([
      405,
      'method_not_allowed',
      'GET, HEAD, OPTIONS',
    ]);
  });
});

describe('browsers', () => {
  test('of configured origins may call the API without cookies; others may not', async () => {
    const from = (origin: string) => crm.http.get('/api/crm/health').set('origin', origin);
    const { headers } = await from('https://app.test');
    expect(headers['access-control-allow-origin']).toBe('https://app.test');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
    const stranger = await from('https://evil.test');
    expect(stranger.headers['access-control-allow-origin']).toBeUndefined();
  });

  test.each([
    ['/', undefined],
    ['/docs', undefined],
    ['/docs/service.css', undefined],
    ['/nothing', undefined],
    ['/docs/api.json', 'https://app.test'],
    ['/api/crm/contacts', 'https://app.test'],
    ['/api/crm/nothing', 'https://app.test'],
    ['/public/links/x', 'https://app.test'],
    ['/public/nobody', '*'],
    ['/public/nobody/kb-articles', '*'],
    ['/public/nobody/feed.rss', '*'],
    ['/public/nobody/sitemap.xml', '*'],
    ['/public/previews/x', '*'],
  ])('may read %s from %s', async (path, allowed) => {
    for (const accept of ['*/*', 'text/html']) {
      const headers = { origin: 'https://app.test', accept };
      const preflight = { ...headers, 'access-control-request-method': 'GET' };
      for (const answer of [
        await crm.http.get(path).set(headers),
        await crm.http.options(path).set(preflight),
      ]) {
        expect(answer.headers['access-control-allow-origin']).toBe(allowed);
      }
    }
  });

  test('neither store a response nor run anything in it', async () => {
    const { headers } = await crm.http.get('/api/crm/health');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['x-powered-by']).toBeUndefined();
  });
});

describe('limits', () => {
  const contacts = '/api/crm/contacts';

  test('count a person across all tokens, and each API key separately', async () => {
    const limited = await startCrm({ RATE_LIMIT_DEFAULT: '2' });
    try {
      const { identity, http } = limited;
      const statuses = async (...callers: ReturnType<typeof identity.signIn>[]) => {
        const found = [];
        for (const { headers } of callers)
          found.push((await http.get(contacts).set(headers)).status);
        return found;
      };
      const policies = [{ action: '*', effect: 'allow' as const }];
      const ada = identity.signIn({ policies });
      const again = identity.signIn({ policies, id: ada.id });
      expect(await statuses(ada, again, ada)).toEqual([200, 200, 429]);
      const key = identity.signIn({ policies, type: 'service_account' });
      const other = identity.signIn({ policies, type: 'service_account', id: key.id });
      expect(await statuses(key, key, key, other)).toEqual([200, 200, 429, 200]);
    } finally {
      await limited.stop();
    }
  });

  test('count an address before authentication, read through the trusted proxies', async () => {
    const limited = await startCrm({ RATE_LIMIT_ADDRESS: '2', TRUSTED_PROXIES: '1' });
    try {
      const from = (addresses: string) =>
        limited.http.get(contacts).set('x-forwarded-for', addresses);
      expect((await from('192.0.2.1')).status).toBe(401);
      expect((await from('203.0.113.7, 192.0.2.1')).status).toBe(401);
      const { status, body, headers } = await from('203.0.113.8, 192.0.2.1');
      expect([status, body.error]).toEqual([429, 'rate_limited']);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect((await from('192.0.2.2')).status).toBe(401);
    } finally {
      await limited.stop();
    }
  });
});

test('without its database, CRM responds with 503 and never 401, and is live but not ready', async () => {
  const { identity } = crm;
  const context = createContext(
    readConfig({
      ...testEnvironment('postgresql://nobody@127.0.0.1:1/crm', identity.url),
      LOG_LEVEL: 'silent',
    }),
  );
  const http = request(createApp(context).app);
  const policies = [{ action: '*', effect: 'allow' as const }];
  const { status, body, headers } = await http
    .get('/api/crm/contacts')
    .set(identity.signIn({ policies }).headers);
  expect([status, body.error, headers['retry-after']]).toEqual([503, 'database_unavailable', '1']);
  expect((await http.get('/livez')).status).toBe(200);
  expect((await http.get('/readyz')).status).toBe(503);
  await context.stop();
});
