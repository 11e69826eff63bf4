import type { Test } from 'supertest';
import { cookieValueOf } from './cookies.ts';
import type { TestIdentity } from './identity.ts';
import { PASSWORD } from './population.ts';

export interface OpenForm {
  readonly token: string;
  /** The cookies that go with the token. */
  readonly cookie: string;
}

/** The forms of pages, opened and sent as a browser does, without one. */
export class Forms {
  readonly #http: TestIdentity['http'];

  constructor({ http }: Pick<TestIdentity, 'http'>) {
    this.#http = http;
  }

  /** Opens a page: what its form carries, and the cookies that go with it. */
  async open(path: string, cookies = ''): Promise<OpenForm> {
    const answer = await this.#http.get(path).set('cookie', cookies);
    const visitor = cookieValueOf(answer, '__Host-visitor');
    const fresh = visitor === undefined ? '' : `__Host-visitor=${visitor}`;
    return { token: tokenIn(answer.text), cookie: [cookies, fresh].filter(Boolean).join('; ') };
  }

  send(path: string, { token, cookie }: OpenForm, fields: Record<string, string>): Test {
    return this.#http
      .post(path)
      .redirects(0)
      .set({ cookie, 'sec-fetch-site': 'same-origin' })
      .type('form')
      .send({ form_token: token, ...fields });
  }

  /** The cookies of a browser in which this user has signed in; of those `before`, it keeps all but the session. */
  async signIn(email: string | null, before = ''): Promise<string> {
    const others = before.split('; ').filter((each) => !each.startsWith('__Host-session='));
    const form = await this.open('/sign-in', others.join('; '));
    const answer = await this.send('/sign-in', form, { email: email ?? '', password: PASSWORD });
    expect(answer.status).toBe(303);
    return `${form.cookie}; __Host-session=${cookieValueOf(answer, '__Host-session')}`;
  }
}

const tokenIn = (page: string): string =>
  /id="form"[\s\S]*?name="form_token" value="([^"]+)"/.exec(page)?.[1] ??
  /name="form_token" value="([^"]+)"/.exec(page)?.[1] ??
  '';
