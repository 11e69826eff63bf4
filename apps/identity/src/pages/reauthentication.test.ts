import { createVault } from '@tessera/vault';
import type { User } from '../generated/prisma/client.ts';
import { Forms, type OpenForm } from '../testing/forms.ts';
import { identityDatabase, startIdentity, type TestIdentity } from '../testing/identity.ts';
import { PASSWORD } from '../testing/population.ts';
import { activityOf } from '../testing/sessions.ts';

const PIN = '192837';
const newPin = { pin: PIN, pin_confirmation: PIN };
const WRONG = 'Wrong-horse-8-battery';

let identity: TestIdentity;
let forms: Forms;
let user: User;
let cookie: string;
beforeAll(async () => {
  identity = await startIdentity();
  forms = new Forms(identity);
});
afterAll(() => identity.stop());
beforeEach(async () => {
  user = await identity.people.user({ tenant: await identity.people.tenant() });
  cookie = await forms.signIn(user.email);
});

/** Sets the age of the user's authentication. */
const wait = async (seconds: number, on = identity, who = user): Promise<void> => {
  await on.context.database.session.updateMany({
    where: { userId: who.id },
    data: { authenticatedAt: new Date(Date.now() - seconds * 1000) },
  });
};

const continuationIn = (page: string): string =>
  /name="continuation" value="([^"]+)"/.exec(page)?.[1] ?? '';
const errorOf = (page: string, name: string): string | undefined =>
  new RegExp(`id="${name}-error"><li>([^<]*)<`).exec(page)?.[1];
const titleOf = (page: string): string | undefined => /<h1>([^<]*)</.exec(page)?.[1];
const QUESTION = 'Confirm that it is you';

const pins = (): Promise<number> =>
  identity.context.database.pin.count({ where: { userId: user.id } });

/** Submits a PIN form after an old sign-in; returns the form and the response. */
const ask = async (fields: Record<string, string> = newPin) => {
  const form = await forms.open('/account/pin', cookie);
  await wait(601);
  const answer = await forms.send('/account/pin', form, fields);
  return { form, answer, continuation: continuationIn(answer.text) };
};

describe('a form sent more than ten minutes after the sign-in', () => {
  test('asks for the password, then continues with what was typed', async () => {
    const { form, answer, continuation } = await ask();
    expect([answer.status, titleOf(answer.text)]).toEqual([200, QUESTION]);
    expect(await pins()).toBe(0);
    const done = await forms.send('/account/pin', form, { continuation, password: PASSWORD });
    expect([done.status, done.headers.location]).toEqual([303, '/account/pin?notice=pin_set']);
    const bearer = await identity.people.signIn(user);
    const verified = await identity.http
      .post('/api/auth/pin/verify')
      .set(bearer)
      .send({ pin: PIN });
    expect(verified.status).toBe(200);
  });

  test('asks for a code if the user prefers that, also for a recovery code', async () => {
    const bearer = await identity.people.signIn(user);
    const authenticator = await identity.people.enableTwoFactor(user, bearer);
    const { form, answer, continuation } = await ask();
    expect(answer.text).toContain('Use a code instead');
    const other = { continuation, by: 'password', other_way: 'code' };
    const page = await forms.send('/account/pin', form, other);
    expect([page.status, continuationIn(page.text)]).toEqual([200, continuation]);
    expect(page.text).toMatch(/name="code"[^>]*maxlength="100"/);

    const wrong = { continuation, by: 'code', code: authenticator.wrongCode() };
    const refused = await forms.send('/account/pin', form, wrong);
    expect(refused.status).toBe(422);
    expect(errorOf(refused.text, 'code')).toContain('This code is incorrect');
    const code = authenticator.recoveryCodes[0] ?? '';
    const done = await forms.send('/account/pin', form, { continuation, by: 'code', code });
    expect(done.status).toBe(303);
    expect(await pins()).toBe(1);
  });

  test('keeps what was typed after wrong or empty passwords and language changes', async () => {
    const { form, continuation } = await ask();
    const send = (fields: Record<string, string>) =>
      forms.send('/account/pin', form, { continuation, by: 'password', ...fields });
    const wrong = await send({ password: WRONG });
    expect([wrong.status, errorOf(wrong.text, 'password')]).toEqual([
      422,
      'The password is incorrect.',
    ]);
    const empty = await send({ password: '' });
    expect([empty.status, errorOf(empty.text, 'password')]).toEqual([422, 'Enter a password.']);
    const german = await send({ password: WRONG, ui_locales: 'de' });
    expect([german.status, titleOf(german.text)]).toEqual([
      200,
      'Bitte bestätigen Sie, dass Sie es sind',
    ]);
    for (const page of [wrong, empty, german]) {
      expect(continuationIn(page.text)).toBe(continuation);
    }
    expect((await send({ password: PASSWORD })).status).toBe(303);
    // Only the wrong password counts as an attempt.
    const actions = (await activityOf(identity, user)).map(({ action }) => action);
    expect(actions).toEqual(['login', 'reauthentication_failed', 'reauthenticated', 'pin_set']);
  });

  test('shows no secrets', async () => {
    const { form, answer, continuation } = await ask();
    const refused = await forms.send('/account/pin', form, { continuation, password: WRONG });
    for (const { text } of [answer, refused]) {
      expect(text).not.toContain(PIN);
      expect(Buffer.from(continuationIn(text), 'base64url').toString('latin1')).not.toContain(PIN);
      expect(text).not.toContain(WRONG);
    }
  });

  test('shows its errors after the password was confirmed', async () => {
    const { form, continuation } = await ask({ pin: '111111', pin_confirmation: PIN });
    const answer = await forms.send('/account/pin', form, { continuation, password: PASSWORD });
    expect(answer.status).toBe(422);
    expect(errorOf(answer.text, 'pin')).toBe('Do not use the same digit six times.');
    expect(errorOf(answer.text, 'pin_confirmation')).toBe('The PINs do not match.');
    expect(continuationIn(answer.text)).toBe('');
  });
});

describe('a sensitive page opened more than ten minutes after the sign-in', () => {
  const PATH = '/account/two-factor/set-up';
  beforeEach(async () => {
    const form = await forms.open('/account/two-factor', cookie);
    const begun = await forms.send('/account/two-factor', form, {});
    expect(begun.headers.location).toBe(PATH);
    await wait(601);
  });
  const open = () => identity.http.get(PATH).set('cookie', cookie);

  test('asks for the password first, then opens', async () => {
    const page = await open();
    expect([page.status, titleOf(page.text)]).toEqual([200, QUESTION]);
    expect(page.text).not.toContain('otpauth:');
    const form = await forms.open(PATH, cookie);
    const continuation = continuationIn(page.text);
    const answer = await forms.send(PATH, form, { continuation, password: PASSWORD });
    expect([answer.status, answer.headers.location]).toEqual([303, PATH]);
    expect((await open()).text).toContain('otpauth:');
  });

  test('does not open by choosing a language, which applies after the confirmation', async () => {
    const form = await forms.open(PATH, cookie);
    const german = await forms.send(PATH, form, { ui_locales: 'de', code: '' });
    expect(german.text).toContain('<html lang="de">');
    expect(german.text).not.toContain('otpauth:');
    const continuation = continuationIn(german.text);
    const page = await forms.send(PATH, form, { continuation, password: PASSWORD });
    expect(page.status).toBe(200);
    expect(page.text).toContain('otpauth:');
  });
});

describe('an invalid reauthentication', () => {
  const refused = async (path: string, form: OpenForm, continuation: string): Promise<void> => {
    const answer = await forms.send(path, form, { continuation, password: PASSWORD });
    expect([answer.status, titleOf(answer.text)]).toEqual([403, 'Something went wrong']);
    expect(answer.headers['content-type']).toMatch(/^text\/html/);
  };

  test.each(['', 'x', '%', 'A'.repeat(200), '{"values":{}}'])(
    'is refused with a page: %s',
    async (continuation) => {
      const { form } = await ask();
      await refused('/account/pin', form, continuation);
      expect(await pins()).toBe(0);
    },
  );

  test('is one of another user', async () => {
    const { continuation } = await ask();
    const other = await identity.people.user({ tenant: await identity.people.tenant() });
    const theirs = await forms.open('/account/pin', await forms.signIn(other.email));
    await refused('/account/pin', theirs, continuation);
  });

  test('is one of another page', async () => {
    const { form, continuation } = await ask();
    await refused('/account/two-factor', form, continuation);
  });

  test('is one older than an hour', async () => {
    const { form, continuation } = await ask();
    const now = Date.now();
    const clock = import.meta.jest.spyOn(Date, 'now').mockReturnValue(now + 3601_000);
    try {
      await refused('/account/pin', form, continuation);
    } finally {
      clock.mockRestore();
    }
  });

  test('is a form without token or of another site', async () => {
    const { form, continuation } = await ask();
    const bare = { ...form, token: '' };
    const answer = await forms.send('/account/pin', bare, { continuation, password: PASSWORD });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('role="alert"');
    const foreign = await forms
      .send('/account/pin', form, { continuation, password: PASSWORD })
      .set('sec-fetch-site', 'cross-site');
    expect(foreign.status).toBe(403);
    expect(await pins()).toBe(0);
  });

  test('does not continue a form with an invalid token', async () => {
    const form = await forms.open('/account/pin', cookie);
    await wait(601);
    const forged = await forms.send('/account/pin', { ...form, token: 'x' }, newPin);
    const continuation = continuationIn(forged.text);
    if (continuation !== '') {
      await forms.send('/account/pin', form, { continuation, password: PASSWORD });
    }
    expect(await pins()).toBe(0);
  });

  test('can be sent again if a file is the answer, which leaves it open', async () => {
    const path = '/account/data/download';
    const isDownload = ({ text }: { readonly text: string }) =>
      /<form id="form"[^>]* data-download/.test(text);
    const form = await forms.open(path, cookie);
    await wait(601);
    const prompt = await forms.send(path, form, {});
    const continuation = continuationIn(prompt.text);
    const refused = await forms.send(path, form, { continuation, password: WRONG });
    expect([titleOf(prompt.text), isDownload(prompt), isDownload(refused)]).toEqual([
      QUESTION,
      true,
      true,
    ]);
    const file = await forms.send(path, form, { continuation, password: PASSWORD });
    expect(file.headers['content-disposition']).toContain('attachment');

    await wait(601);
    const opened = await identity.http.get(path).set('cookie', cookie);
    expect([titleOf(opened.text), isDownload(opened)]).toEqual([QUESTION, false]);
  });

  test('redirects to the sign-in if the session has ended', async () => {
    const { form, continuation } = await ask();
    const gone = form.cookie.replace(/__Host-session=[^;]*/, '__Host-session=gone');
    const answer = await forms.send('/account/pin', { ...form, cookie: gone }, { continuation });
    expect(answer.headers.location).toBe('/sign-in?notice=expired&next=%2Faccount%2Fpin');
  });
});

describe('the rate limits', () => {
  const limitedBy = async (
    environment: Record<string, string>,
    test: (strict: Forms, form: OpenForm, continuation: string) => Promise<void>,
  ): Promise<void> => {
    const limited = await startIdentity(environment);
    try {
      const strict = new Forms(limited);
      const person = await limited.people.user({ tenant: await limited.people.tenant() });
      const path = '/account/two-factor';
      const form = await strict.open(path, await strict.signIn(person.email));
      await wait(601, limited, person);
      const answer = await strict.send(path, form, {});
      await test(strict, form, continuationIn(answer.text));
    } finally {
      await limited.stop();
    }
  };

  test('are those of the route that confirms a password; exceeding them is shown in the page', async () => {
    await limitedBy({ RATE_LIMIT_PASSWORD: '1' }, async (strict, form, continuation) => {
      const send = (more: Record<string, string>) =>
        strict.send('/account/two-factor', form, { continuation, by: 'password', ...more });
      expect((await send({ password: WRONG })).status).toBe(422);
      const refused = await send({ password: PASSWORD });
      expect(refused.status).toBe(429);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      expect(titleOf(refused.text)).toBe(QUESTION);
      expect(refused.text).toMatch(/role="alert">Too many attempts/);
      expect(continuationIn(refused.text)).toBe(continuation);
      // Changing language or method does not count as an attempt.
      expect((await send({ ui_locales: 'hu' })).status).toBe(200);
      expect((await send({ other_way: 'code' })).status).toBe(200);
    });
  });

  test('are those of the route that verifies a code, for codes', async () => {
    await limitedBy({ RATE_LIMIT_TWO_FACTOR: '1' }, async (strict, form, continuation) => {
      const send = (more: Record<string, string>) =>
        strict.send('/account/two-factor', form, { continuation, ...more });
      await send({ by: 'code', code: '000000' });
      expect((await send({ by: 'code', code: '000000' })).status).toBe(429);
      expect((await send({ by: 'password', password: WRONG })).status).toBe(422);
    });
  });

  test('of wrong passwords apply here too', async () => {
    await limitedBy({ RATE_LIMIT_LOGIN_FAILURES: '2' }, async (strict, form, continuation) => {
      const send = (password: string) =>
        strict.send('/account/two-factor', form, { continuation, password });
      expect((await send(WRONG)).status).toBe(422);
      expect((await send(WRONG)).status).toBe(422);
      const refused = await send(PASSWORD);
      expect([refused.status, titleOf(refused.text)]).toEqual([429, QUESTION]);
    });
  });

  test('of other pages cannot be bypassed with a fake continuation', async () => {
    const limited = await startIdentity({ RATE_LIMIT_LOGIN: '1' });
    try {
      const strict = new Forms(limited);
      const form = await strict.open('/sign-in');
      const given = { email: 'nobody@example.test', password: WRONG, continuation: 'x' };
      expect((await strict.send('/sign-in', form, given)).status).toBe(401);
      expect((await strict.send('/sign-in', form, given)).status).toBe(429);
    } finally {
      await limited.stop();
    }
  });

  test('keep a sensitive page closed', async () => {
    const limited = await startIdentity({ RATE_LIMIT_FORM: '3' });
    try {
      const strict = new Forms(limited);
      const person = await limited.people.user({ tenant: await limited.people.tenant() });
      const form = await strict.open('/account/two-factor', await strict.signIn(person.email));
      await strict.send('/account/two-factor', form, {});
      await wait(601, limited, person);
      const path = '/account/two-factor/set-up';
      const answers = [];
      for (let i = 0; i < 4; i++) answers.push(await strict.send(path, form, { code: '000000' }));
      expect(answers.map(({ status }) => status)).toContain(429);
      for (const { text } of answers) {
        expect(titleOf(text)).toBe(QUESTION);
        expect(text).not.toContain('otpauth:');
      }
    } finally {
      await limited.stop();
    }
  });
});

test('a pending form survives a key rotation', async () => {
  const [older, newer] = [7, 8].map((n) => `k${n}:${Buffer.alloc(32, n).toString('base64')}`);
  const DATABASE_URL = await identityDatabase();
  const before = await startIdentity({ DATABASE_URL, KEY_ENCRYPTION_KEYS: `${older}` });
  const person = await before.people.user({ tenant: await before.people.tenant() });
  const first = new Forms(before);
  const form = await first.open('/account/pin', await first.signIn(person.email));
  await wait(601, before, person);
  const asked = await first.send('/account/pin', form, newPin);
  await before.stop();

  const after = await startIdentity({ DATABASE_URL, KEY_ENCRYPTION_KEYS: `${newer},${older}` });
  try {
    const continuation = continuationIn(asked.text);
    const given = { continuation, password: PASSWORD };
    const done = await new Forms(after).send('/account/pin', form, given);
    expect([done.status, done.headers.location]).toEqual([303, '/account/pin?notice=pin_set']);
  } finally {
    await after.stop();
  }
});

test('values encrypted for another purpose are not accepted as a pending form', async () => {
  const { form } = await ask();
  const vault = createVault(identity.context.config.keyEncryptionKeys);
  const waiting = { userId: user.id, path: '/account/pin', expiresAt: Date.now() + 60_000 };
  const plain = Buffer.from(JSON.stringify({ ...waiting, values: newPin }));
  const continuation = vault.seal(plain, 'another purpose').toString('base64url');
  const answer = await forms.send('/account/pin', form, { continuation, password: PASSWORD });
  expect(answer.status).toBe(403);
});
