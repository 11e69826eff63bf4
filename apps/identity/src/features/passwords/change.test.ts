import type { User } from '../../generated/prisma/client.ts';
import { CodeFlow } from '../../testing/code-flow.ts';
import { cookieValueOf } from '../../testing/cookies.ts';
import { Forms } from '../../testing/forms.ts';
import { startIdentity } from '../../testing/identity.ts';
import { type Bearer, PASSWORD } from '../../testing/population.ts';
import { issue } from '../../testing/tokens.ts';

const NEW = 'Another-horse-8-battery';

const identity = await startIdentity();
afterAll(() => identity.stop());

let user: User;
let bearer: Bearer;
beforeEach(async () => {
  user = await identity.people.user({ tenant: await identity.people.tenant() });
  bearer = await identity.people.signIn(user);
});

const change = (current: string, password: string, confirmation = password) =>
  identity.http.post('/api/auth/password/change').set(bearer).send({
    current_password: current,
    new_password: password,
    new_password_confirmation: confirmation,
  });
const me = (of: Bearer) => identity.http.get('/api/me').set(of);
const login = (password: string) =>
  identity.http.post('/api/auth/login').send({ email: user.email, password });

describe('too many attempts', () => {
  test('are counted per user, for page and API together', async () => {
    const strict = await startIdentity({ RATE_LIMIT_PASSWORD: '2' });
    try {
      const limited = await strict.people.user();
      const forms = new Forms(strict);
      const cookies = await forms.signIn(limited.email);
      const form = await forms.open('/account/password', cookies);
      const given = {
        current_password: 'wrong',
        new_password: NEW,
        new_password_confirmation: NEW,
      };
      const attempt = () => forms.send('/account/password', form, given);
      expect((await attempt()).status).toBe(422);
      expect((await attempt()).status).toBe(422);
      expect((await attempt()).status).toBe(429);
      const by = await strict.people.signIn(limited);
      await strict.http.post('/api/auth/password/change').set(by).send(given).expect(429);
      const another = await strict.people.signIn(await strict.people.user());
      await strict.http.post('/api/auth/password/change').set(another).send(given).expect(422);
    } finally {
      await strict.stop();
    }
  });
});

describe('change', () => {
  test('replaces the password; this session continues, all others end', async () => {
    const other = await identity.people.signIn(user);
    const { authorization } = bearer;
    const switched = `Bearer ${await issue(identity, { userId: user.id, use: 'switch' })}`;
    await change(PASSWORD, NEW).expect(200);
    await me({ authorization }).expect(200);
    await me(other).expect(401);
    await me({ authorization: switched }).expect(401);
    await login(PASSWORD).expect(401);
    await login(NEW).expect(200);
    const { database } = identity.context;
    const entries = await database.activityEntry.findMany({ where: { userId: user.id } });
    expect(entries.map(({ action }) => action)).toContain('password_changed');
    const events = await database.outboxEvent.findMany({ where: { key: user.id } });
    expect(events.map(({ payload }) => (payload as { data: object }).data)).toEqual([
      { session_id: expect.any(String), user_id: user.id, reason: 'password_changed' },
      { token_id: expect.any(String), user_id: user.id, reason: 'password_changed' },
    ]);
  });

  test('revokes access and refresh tokens of applications in the same session', async () => {
    const flow = new CodeFlow(identity);
    const client = await flow.client();
    const answer = await login(PASSWORD).expect(200);
    const cookie = `__Host-session=${cookieValueOf(answer, '__Host-session')}`;
    bearer = { authorization: `Bearer ${answer.body.data.token}` };
    const tokens = await flow.tokens(client, cookie);
    const code = await flow.code(client, cookie);
    await change(PASSWORD, NEW).expect(200);
    await me(bearer).expect(200);
    await me({ authorization: `Bearer ${tokens.access_token}` }).expect(401);
    expect((await flow.refresh(client, tokens.refresh_token)).status).toBe(400);
    expect((await flow.exchange(client, code)).status).toBe(400);
  });

  test('made with an application’s token keeps only that application signed in', async () => {
    const flow = new CodeFlow(identity);
    const [client, other] = [await flow.client(), await flow.client()];
    const answer = await login(PASSWORD).expect(200);
    const cookie = `__Host-session=${cookieValueOf(answer, '__Host-session')}`;
    const [own, others] = [await flow.tokens(client, cookie), await flow.tokens(other, cookie)];
    bearer = { authorization: `Bearer ${own.access_token}` };
    await change(PASSWORD, NEW).expect(200);
    await me(bearer).expect(200);
    expect((await flow.refresh(client, own.refresh_token)).status).toBe(200);
    for (const dead of [answer.body.data.token, others.access_token]) {
      await me({ authorization: `Bearer ${dead}` }).expect(401);
    }
    expect((await flow.refresh(other, others.refresh_token)).status).toBe(400);
  });

  test('is the same at PUT /api/user/password', async () => {
    await identity.http
      .put('/api/user/password')
      .set(bearer)
      .send({ current_password: PASSWORD, new_password: NEW, new_password_confirmation: NEW })
      .expect(200);
    await login(NEW).expect(200);
  });

  test('is available to users who must change their password, and lifts the restriction', async () => {
    const { database } = identity.context;
    await database.user.update({ where: { id: user.id }, data: { forcePasswordChange: true } });
    const refused = await identity.http.get('/api/profile').set(bearer).expect(403);
    expect(refused.body.error).toBe('password_change_required');
    await change(PASSWORD, NEW).expect(200);
    await identity.http.get('/api/profile').set(bearer).expect(200);
  });

  test('rejects a wrong current password with 422 on current_password, along with other errors', async () => {
    const answer = await change('Wrong-horse-1-battery', 'short').expect(422);
    expect(Object.keys(answer.body.errors).sort()).toEqual(['current_password', 'new_password']);
    await login(PASSWORD).expect(200);
  });

  test('rejects a different confirmation', async () => {
    const answer = await change(PASSWORD, NEW, `${NEW}!`).expect(422);
    expect(Object.keys(answer.body.errors)).toEqual(['new_password_confirmation']);
  });

  test('rejects the last five passwords including the current one; the sixth is accepted', async () => {
    const used = [PASSWORD];
    for (let index = 1; index <= 5; index += 1) {
      const next = `Horse-number-${index}-battery`;
      await change(used.at(-1) ?? '', next).expect(200);
      used.push(next);
    }
    const current = used.at(-1) ?? '';
    for (const password of used.slice(1)) {
      const answer = await change(current, password).expect(422);
      expect(answer.body.errors).toEqual({
        new_password: ['the password must be none of your last ones'],
      });
    }
    await change(current, PASSWORD).expect(200);
    const { database } = identity.context;
    expect(await database.previousPassword.count({ where: { userId: user.id } })).toBe(4);
  });

  test('succeeds for only one of two concurrent requests', async () => {
    const answers = await Promise.all([
      change(PASSWORD, 'First-horse-1-battery'),
      change(PASSWORD, 'Other-horse-2-battery'),
    ]);
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(200);
    expect([409, 422]).toContain(statuses[1]);
  });

  test('is not available to API keys', async () => {
    const { bearer: machine } = await identity.people.application('identity.users.create');
    bearer = machine;
    await change(PASSWORD, NEW).expect(403);
  });

  test('is limited to five wrong passwords a minute', async () => {
    const strict = await startIdentity({ RATE_LIMIT_LOGIN_FAILURES: '5' });
    const someone = await strict.people.user({ tenant: await strict.people.tenant() });
    const signedIn = await strict.people.signIn(someone);
    const guess = (current_password: string) =>
      strict.http.post('/api/auth/password/change').set(signedIn).send({
        current_password,
        new_password: NEW,
        new_password_confirmation: NEW,
      });
    for (let index = 0; index < 5; index += 1) await guess(`wrong ${index}`).expect(422);
    const answer = await guess(PASSWORD).expect(429);
    expect(answer.headers['retry-after']).toBeDefined();
    await strict.stop();
  });
});

describe('the rules', () => {
  const problems = async (password: string): Promise<string[]> =>
    (await change(PASSWORD, password)).body.errors?.new_password ?? [];

  test('require 12 characters, upper and lower case, a digit and a special character', async () => {
    const miss = (what: RegExp) => [expect.stringMatching(what)];
    expect(await problems('Short-pass1')).toEqual(miss(/12 characters/));
    expect(await problems('lower-case-only-1')).toEqual(miss(/uppercase/));
    expect(await problems('UPPER-CASE-ONLY-1')).toEqual(miss(/lowercase/));
    expect(await problems('No-digit-anywhere')).toEqual(miss(/digit/));
    expect(await problems('NothingSpecial123')).toEqual(miss(/special/));
    expect(await problems('')).toHaveLength(5);
  });

  test('recognize letters of all scripts', async () => {
    expect(await problems('Árvíztűrő-1')).toHaveLength(1);
    expect(await problems('ÁRVÍZTŰRŐ-tükör-1')).toEqual([]);
  });

  test('reject 73 bytes rather than truncating, and accept 72', async () => {
    const long = `Aa1-${'x'.repeat(69)}`;
    expect(await problems(long)).toEqual(['the password must have at most 72 bytes in UTF-8']);
    expect(await problems(`Aa1-${'😀'.repeat(18)}`)).toHaveLength(1);
    await change(PASSWORD, long.slice(1).replace('a', 'aA')).expect(422);
    await change(PASSWORD, long.slice(0, 72)).expect(200);
    await login(long.slice(0, 72)).expect(200);
    await login(long.slice(0, 71)).expect(401);
    await login(long).expect(401);
  });

  test('accept emoji, reject NUL and unpaired surrogates with 422, and a megabyte with 413', async () => {
    await change(PASSWORD, 'Horse-😀-battery-7\0').expect(422);
    await identity.http
      .post('/api/auth/password/change')
      .set(bearer)
      .set('content-type', 'application/json')
      .send(
        `{"current_password":"${PASSWORD}","new_password":"Horse-\\ud83d-battery-7","new_password_confirmation":"Horse-\\ud83d-battery-7"}`,
      )
      .expect(422);
    await change(PASSWORD, 'x'.repeat(1024 * 1024)).expect(413);
    await change(PASSWORD, 'Horse-😀-battery-7').expect(200);
    await login('Horse-😀-battery-7').expect(200);
  });

  test('treat composed and decomposed letters as equal', async () => {
    const composed = 'Árvíztűrő-tükör-7'.normalize('NFC');
    const decomposed = composed.normalize('NFD');
    expect(decomposed).not.toBe(composed);
    await change(PASSWORD, decomposed, composed).expect(200);
    await login(composed).expect(200);
    await login(decomposed).expect(200);
    const again = await change(decomposed, composed).expect(422);
    expect(again.body.errors.new_password).toEqual(['the password must be none of your last ones']);
  });
});
