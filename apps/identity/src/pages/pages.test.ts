import { once } from 'node:events';
import { request as rawRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { CodeFlow } from '../testing/code-flow.ts';
import { cookieValueOf, setCookieOf } from '../testing/cookies.ts';
import { Forms } from '../testing/forms.ts';
import { identityDatabase, startIdentity, type TestIdentity } from '../testing/identity.ts';
import { PASSWORD } from '../testing/population.ts';
import { severable } from '../testing/severable.ts';

const ISSUER = 'https://identity.test';

let identity: TestIdentity;
let forms: Forms;
beforeAll(async () => {
  identity = await startIdentity({ REGISTRATION_ENABLED: 'true' });
  forms = new Forms(identity);
});
afterAll(() => identity.stop());

describe('the sign-in page', () => {
  test('opens a session and redirects the browser', async () => {
    const user = await identity.people.user();
    const form = await forms.open('/sign-in');
    const answer = await forms.send('/sign-in', form, {
      email: user.email ?? '',
      password: PASSWORD,
    });
    expect([answer.status, answer.headers.location]).toEqual([303, '/account']);
    expect(setCookieOf(answer, '__Host-session')).toMatch(
      /; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const cookie = `${form.cookie}; __Host-session=${cookieValueOf(answer, '__Host-session')}`;
    const page = await identity.http.get('/account').set('cookie', cookie);
    expect(page.text).toContain(user.email);
  });

  test('persists the session cookie only on request', async () => {
    const user = await identity.people.user();
    const given = { email: user.email ?? '', password: PASSWORD, remember: 'true' };
    const answer = await forms.send('/sign-in', await forms.open('/sign-in'), given);
    expect(setCookieOf(answer, '__Host-session')).toContain('Max-Age=2592000');
  });

  test('shows an error, and keeps what was typed except the password', async () => {
    const answer = await forms.send('/sign-in', await forms.open('/sign-in'), {
      email: 'nobody@example.test',
      password: 'Wrong-<password>-1',
    });
    expect(answer.status).toBe(401);
    expect(answer.text).toContain('role="alert"');
    expect(answer.text).toContain('value="nobody@example.test"');
    expect(answer.text).not.toContain('Wrong-');
  });

  test('marks invalid fields and escapes their values', async () => {
    const answer = await forms.send('/sign-in', await forms.open('/sign-in'), {
      email: '"><script>alert(1)</script>',
      password: '',
    });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
    expect(answer.text).not.toContain('<script>');
    expect(answer.text).toMatch(/aria-invalid="true" aria-describedby="email-error" autofocus/);
  });

  test('shares its rate limit with the JSON route', async () => {
    const limited = await startIdentity({ RATE_LIMIT_LOGIN: '3' });
    try {
      const json = { email: 'nobody@example.test', password: 'x' };
      await limited.http.post('/api/auth/login').send(json);
      await limited.http.post('/api/auth/login').send(json);
      expect((await limited.http.post('/sign-in').type('form').send({})).status).toBe(403);
      const refused = await limited.http.post('/sign-in').type('form').send({});
      expect(refused.status).toBe(429);
      expect(refused.headers['retry-after']).toMatch(/^\d+$/);
      expect(refused.headers['content-type']).toMatch(/^text\/html/);
      expect(refused.text).toContain('Too many attempts');
      expect((await limited.http.post('/api/auth/login').send(json)).status).toBe(429);
    } finally {
      await limited.stop();
    }
  });
});

describe('return_to', () => {
  const authorization = `${ISSUER}/oauth/authorize?client_id=panel`;

  test('leads back to an authorization', async () => {
    const user = await identity.people.user();
    const path = `/sign-in?${new URLSearchParams({ return_to: authorization })}`;
    const given = { email: user.email ?? '', password: PASSWORD };
    const answer = await forms.send(path, await forms.open(path), given);
    expect(answer.headers.location).toBe(authorization);
  });

  test.each([
    'https://evil.test/oauth/authorize?client_id=panel',
    `${ISSUER}.evil.test/oauth/authorize?client_id=panel`,
    `${ISSUER}@evil.test/oauth/authorize?client_id=panel`,
    `${ISSUER}/oauth/authorize/../../elsewhere?x`,
    `${ISSUER}/account`,
    '//evil.test',
    'javascript:alert(1)',
    '/oauth/authorize?client_id=panel',
  ])('is ignored if it is %s', async (elsewhere) => {
    const user = await identity.people.user();
    const path = `/sign-in?${new URLSearchParams({ return_to: elsewhere })}`;
    const given = { email: user.email ?? '', password: PASSWORD };
    const answer = await forms.send(path, await forms.open(path), given);
    expect([answer.status, answer.headers.location]).toEqual([303, '/account']);
  });
});

describe('a form sent by another site', () => {
  const given = { email: 'ada@example.test', password: PASSWORD };
  const post = (headers: Record<string, string>, token: string) =>
    identity.http
      .post('/sign-in')
      .set(headers)
      .type('form')
      .send({ form_token: token, ...given });

  test('is rejected without a token, and with another user’s token', async () => {
    const [form, other] = [await forms.open('/sign-in'), await forms.open('/sign-in')];
    const here = { cookie: form.cookie, 'sec-fetch-site': 'same-origin' };
    for (const token of ['', 'x', other.token]) {
      const answer = await post(here, token);
      expect([answer.status, setCookieOf(answer, '__Host-session')]).toEqual([403, undefined]);
    }
    expect((await post(here, form.token)).status).toBe(401);
  });

  test.each([
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': 'cross-site', origin: ISSUER }],
    [{ origin: 'https://evil.test' }],
    [{ origin: 'null' }],
    [{}],
  ])('is rejected by its headers: %j', async (headers) => {
    const { token, cookie } = await forms.open('/sign-in');
    expect((await post({ cookie, ...headers }, token)).status).toBe(403);
  });

  test('is accepted with our own Origin if the browser sends nothing better', async () => {
    const { token, cookie } = await forms.open('/sign-in');
    expect((await post({ cookie, origin: ISSUER }, token)).status).toBe(401);
  });

  test('is rejected with a token from before the sign-in', async () => {
    const before = await forms.open('/sign-in');
    const session = await forms.signIn((await identity.people.user()).email);
    const cookie = `${before.cookie}; ${session.split('; ').at(-1)}`;
    const answer = await forms.send('/sign-out', { token: before.token, cookie }, {});
    expect(answer.status).toBe(403);
    expect((await identity.http.get('/account').set('cookie', cookie)).status).toBe(200);
  });

  test('is accepted with a token from before a key rotation', async () => {
    const old = `old:${Buffer.alloc(32, 1).toString('base64')}`;
    const keys = `${process.pid}:${Buffer.alloc(32, 2).toString('base64')},${old}`;
    const before = await startIdentity({ KEY_ENCRYPTION_KEYS: old });
    const page = await before.http.get('/sign-in');
    await before.stop();
    const after = await startIdentity({ KEY_ENCRYPTION_KEYS: keys });
    try {
      const answer = await after.http
        .post('/sign-in')
        .set('cookie', `__Host-visitor=${cookieValueOf(page, '__Host-visitor')}`)
        .set('sec-fetch-site', 'same-origin')
        .type('form')
        .send({ form_token: /name="form_token" value="([^"]+)"/.exec(page.text)?.[1], ...given });
      expect(answer.status).toBe(401);
    } finally {
      await after.stop();
    }
  });
});

describe('every page', () => {
  const pages = ['/sign-in', '/password/forgot', '/register', '/mail-sent', '/signed-out'];

  test.each(pages)(
    '%s only runs its own scripts, cannot be framed and is not stored',
    async (path) => {
      const { status, headers, text } = await identity.http.get(path);
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      );
      expect(text).not.toMatch(/ style=|<style| on\w+=/);
    },
  );

  test('redirects signed-out users to the sign-in', async () => {
    const comesBack = ['/account', '/account/password'];
    for (const path of [...comesBack, '/pin', '/consent/some-request']) {
      const { status, headers } = await identity.http.get(path).redirects(0);
      const next = comesBack.includes(path) ? `?${new URLSearchParams({ next: path })}` : '';
      expect([path, status, headers.location]).toEqual([path, 303, `/sign-in${next}`]);
    }
    const waiting = await identity.http.get('/two-factor').redirects(0);
    expect(waiting.headers.location).toBe('/sign-in?notice=expired');
  });

  test('rejects other methods', async () => {
    const { status, headers } = await identity.http.put('/sign-in');
    expect([status, headers.allow]).toEqual([405, 'GET, POST, HEAD, OPTIONS']);
    expect((await identity.http.post('/account')).status).toBe(405);
    expect((await identity.http.head('/sign-in')).status).toBe(200);
  });

  test('accepts only forms of limited size', async () => {
    const post = () => identity.http.post('/sign-in').set('sec-fetch-site', 'same-origin');
    expect((await post().send({ email: 'x' })).status).toBe(415);
    const large = await post()
      .type('form')
      .send({ email: 'x'.repeat(70_000) });
    expect(large.status).toBe(413);
    const broken = await post().type('form').set('content-encoding', 'gzip').send('x');
    expect(broken.status).toBe(400);
  });

  test('is not part of the OpenAPI document', () => {
    expect(Object.keys(identity.document.paths)).not.toContain('/sign-in');
  });
});

describe('a static file', () => {
  const cachingOf = async (path: string) => {
    const { status, headers } = await identity.http.get(path);
    return [status, headers['cache-control']];
  };

  test('may be cached only under the URL with its own version', async () => {
    const { text } = await identity.http.get('/sign-in');
    const [, path = '', version = ''] =
      /href="(\/assets\/pages\.css)\?v=([\w-]+)"/.exec(text) ?? [];
    const forever = 'public, max-age=31536000, immutable';
    expect(await cachingOf(`${path}?v=${version}`)).toEqual([200, forever]);
    for (const other of [path, `${path}?v=other`, `${path}?v=${version}&v=other`]) {
      expect(await cachingOf(other)).toEqual([200, 'no-store']);
    }
  });
});

describe('the language', () => {
  const languageOf = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await identity.http.get(path).set(headers);
    return /<html lang="(\w+)">/.exec(answer.text)?.[1];
  };

  test('is requested by the browser, among the supported ones', async () => {
    expect(await languageOf('/sign-in', { 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' })).toBe(
      'de',
    );
    expect(await languageOf('/sign-in', { 'accept-language': 'fr' })).toBe('en');
  });

  test('is preferably that requested by the application', async () => {
    const return_to = `${ISSUER}/oauth/authorize?client_id=panel&ui_locales=fr%20hu-HU`;
    const path = `/sign-in?${new URLSearchParams({ return_to })}`;
    expect(await languageOf(path, { 'accept-language': 'de' })).toBe('hu');
  });

  test.each(['//evil.example/x', '//evil.example/%2f..', '/\\evil.example/x', '///evil.example'])(
    'links from %s to nowhere else',
    async (path) => {
      const { hostname, port } = new URL(identity.url);
      const asked = rawRequest({ hostname, port, path, headers: { accept: 'text/html' } }).end();
      const [answer] = await once(asked, 'response');
      const page = await text(answer);
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([
        404,
        'text/html; charset=utf-8',
      ]);
      const links = [...page.matchAll(/(?:href|action)="([^"]*)"/g)].map(([, link = '']) => link);
      expect(links).toContain('?ui_locales=de');
      const base = `https://identity.test${path.replaceAll('\\', '/')}`;
      for (const link of links) expect(new URL(link, base).host).toBe('identity.test');
    },
  );

  test('is the chosen one from then on', async () => {
    const answer = await identity.http.get('/sign-in?ui_locales=hu');
    expect(answer.text).toContain('<html lang="hu">');
    const cookie = `language=${cookieValueOf(answer, 'language')}`;
    expect(await languageOf('/password/forgot', { cookie, 'accept-language': 'de' })).toBe('hu');
  });

  test.each(['fr', ''])(
    'is not chosen by a parameter without a supported one: %j',
    async (asked) => {
      const answer = await identity.http
        .get('/sign-in')
        .query({ ui_locales: asked })
        .set('accept-language', 'de');
      expect(answer.text).toContain('<html lang="de">');
      expect(cookieValueOf(answer, 'language')).toBeUndefined();
    },
  );

  test('is the user’s own once they are signed in', async () => {
    const { id, email } = await identity.people.user();
    await identity.context.database.user.update({ where: { id }, data: { locale: 'hu' } });
    const cookie = await forms.signIn(email);
    expect(await languageOf('/account', { cookie, 'accept-language': 'de' })).toBe('hu');
  });
});

describe('form-action', () => {
  const policyFor = async (registered: string, asked: string) => {
    const { clientId } = await new CodeFlow(identity).client({ redirectUris: [registered] });
    const query = { client_id: clientId, redirect_uri: asked };
    const return_to = `${ISSUER}/oauth/authorize?${new URLSearchParams(query)}`;
    const { headers } = await identity.http.get('/sign-in').query({ return_to });
    return /form-action ([^;]*);/.exec(headers['content-security-policy'] ?? '')?.[1];
  };

  test.each([
    ['https://panel.test/callback', 'https://panel.test/callback', "'self'"],
    ['http://127.0.0.1:3000/callback', 'http://127.0.0.1:3000/callback', "'self'"],
    ['com.example.app:/callback', 'com.example.app:/callback', "'self' com.example.app:"],
    ['com.example.app:/callback', 'com.evil.app:/callback', "'self'"],
  ])('with %s registered and %s requested', async (registered, asked, expected) => {
    expect(await policyFor(registered, asked)).toBe(expected);
  });

  test('reaches web applications through an intermediate page, and mobile apps directly', async () => {
    const { email } = await identity.people.user();
    const goalOf = async (redirectUri: string) => {
      const { clientId } = await new CodeFlow(identity).client({ redirectUris: [redirectUri] });
      const query = { client_id: clientId, redirect_uri: redirectUri };
      const return_to = `${ISSUER}/oauth/authorize?${new URLSearchParams(query)}`;
      const path = `/sign-in?${new URLSearchParams({ return_to })}`;
      const given = { email: email ?? '', password: PASSWORD };
      const { headers } = await forms.send(path, await forms.open(path), given);
      return [headers.location, return_to];
    };
    const [app, direct] = await goalOf('com.example.app:/callback');
    expect(app).toBe(direct);
    const [web, authorization = ''] = await goalOf('https://panel.test/callback');
    expect(web).toBe(`/continue?${new URLSearchParams({ return_to: authorization })}`);
    const between = await identity.http.get(web ?? '');
    const escaped = authorization.replaceAll('&', '&amp;');
    expect(between.text).toContain(`<meta http-equiv="refresh" content="0; url=${escaped}">`);
  });

  test.each(['return_to=https://evil.test/', 'request=../../evil', 'request=https://evil.test'])(
    'is nowhere else by that page: %s',
    async (query) => {
      const { text } = await identity.http.get(`/continue?${query}`);
      expect(text).toContain('content="0; url=/account"');
    },
  );
});

describe('without the database', () => {
  test('a page reports it, and works again afterwards', async () => {
    const way = await severable(await identityDatabase());
    const cut = await startIdentity({ DATABASE_URL: way.url });
    try {
      await way.cut();
      const answer = await cut.http.get('/account').set('cookie', '__Host-session=x');
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
      expect(answer.text).toContain('The service is temporarily unavailable.');
      expect(answer.text).toContain(answer.headers['x-request-id']);
      expect((await cut.http.get('/sign-in')).status).toBe(200);
      await way.mend();
      const later = await cut.http.get('/account').set('cookie', '__Host-session=x').redirects(0);
      expect(later.status).toBe(303);
    } finally {
      await cut.stop();
      await way.cut();
    }
  });
});

describe('failures', () => {
  test('are pages for browsers and JSON for programs', async () => {
    const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const page = await identity.http.get('/oauth/authorize?client_id=nobody').set(browser);
    expect([page.status, page.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
    expect(page.headers['content-security-policy']).toContain("style-src 'self'");
    expect(page.text).toContain('invalid_');
    const json = await identity.http.get('/oauth/authorize?client_id=nobody');
    expect(json.body).toMatchObject({ success: false, error: expect.stringContaining('invalid') });
    const secret = await identity.http.get('/oauth/authorize?client_secret=x').set(browser);
    expect([secret.status, secret.headers['content-type']]).toEqual([
      400,
      'text/html; charset=utf-8',
    ]);
    expect((await identity.http.get('/nowhere').set(browser)).text).toContain('<!doctype html>');
    expect((await identity.http.get('/api/nowhere').set(browser)).body.error).toBe('not_found');
  });
});

describe('with a separate frontend', () => {
  test('the sign-in page redirects there, and other pages remain', async () => {
    const other = await startIdentity({ FRONTEND_LOGIN_URL: 'https://app.test/login?from=id' });
    try {
      const return_to = `${ISSUER}/oauth/authorize?client_id=panel`;
      const { status, headers } = await other.http
        .get('/sign-in')
        .query({ return_to })
        .redirects(0);
      expect([status, headers.location]).toEqual([
        303,
        `https://app.test/login?${new URLSearchParams({ from: 'id', return_to })}`,
      ]);
      expect((await other.http.get('/pin').redirects(0)).status).toBe(303);
    } finally {
      await other.stop();
    }
  });

  test('the sign-in page forwards where to go next, shows notices, and knows who is signed in', async () => {
    const other = await startIdentity({ FRONTEND_LOGIN_URL: 'https://app.test/login?from=id' });
    try {
      const locationOf = async (query: Record<string, string>, cookie = '') => {
        const answer = await other.http
          .get('/sign-in')
          .query(query)
          .set('cookie', cookie)
          .redirects(0);
        return answer.headers.location;
      };
      const next = '/account/devices';
      const query = new URLSearchParams({ from: 'id', return_to: `${ISSUER}${next}` });
      const login = `https://app.test/login?${query}`;
      expect(await locationOf({ next })).toBe(login);
      expect(await locationOf({ next, notice: 'unknown' })).toBe(login);
      expect(await locationOf({ next: 'https://evil.test' })).toBe(
        'https://app.test/login?from=id',
      );

      const page = await other.http.get('/sign-in').query({ next, notice: 'email_verified' });
      expect(page.text).toContain('role="status">Your email address is confirmed.');
      expect(page.text).toContain(`href="${login.replaceAll('&', '&amp;')}"`);
      expect(page.text).not.toContain('<form');

      const cookie = await new CodeFlow(other).signIn(await other.people.user());
      const notice = 'email_verified';
      expect(await locationOf({ notice }, cookie)).toBe(`/account?notice=${notice}`);
    } finally {
      await other.stop();
    }
  });

  test('a form whose session has ended leads to a page with a button, because a redirect would be blocked', async () => {
    const other = await startIdentity({ FRONTEND_LOGIN_URL: 'https://app.test/login?from=id' });
    try {
      const pages = new Forms(other);
      const signedIn = await new CodeFlow(other).signIn(await other.people.user());
      const { token, cookie } = await pages.open('/account/password', signedIn);
      const ended = cookie.replace(/__Host-session=[^;]*/, '__Host-session=gone');
      const answer = await pages.send('/account/password', { token, cookie: ended }, {});
      expect(answer.status).toBe(303);
      const page = await other.http.get(answer.headers.location ?? '').redirects(0);
      expect([page.status, page.text]).toEqual([
        200,
        expect.stringContaining('role="status">Your sign-in has timed out.'),
      ]);
      const query = new URLSearchParams({ from: 'id', return_to: `${ISSUER}/account/password` });
      const login = `https://app.test/login?${query}`.replaceAll('&', '&amp;');
      expect(page.text).toContain(`href="${login}"`);
    } finally {
      await other.stop();
    }
  });

  test('registration is available only if enabled', async () => {
    const closed = await startIdentity();
    expect((await closed.http.get('/register')).status).toBe(404);
    await closed.stop();
  });
});
