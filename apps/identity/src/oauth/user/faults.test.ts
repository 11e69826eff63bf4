import { until } from '@tessera/local-stack';
import { CodeFlow } from '../../testing/code-flow.ts';
import { startSeverableIdentity } from '../../testing/severable-identity.ts';
import { expectRefused, present } from '../../testing/tokens.ts';

const { identity, way, direct, stop } = await startSeverableIdentity();
afterAll(stop);
const flow = new CodeFlow(identity);
const client = await flow.client();

type Answer = Awaited<ReturnType<CodeFlow['token']>>;

/** Both ways to get a token; the request can be repeated unchanged. */
const ways: [string, () => Promise<() => Promise<Answer>>][] = [
  [
    'of a code',
    async () => {
      const given = await flow.code(client, await flow.signIn(await identity.people.user()));
      return async () => flow.exchange(client, given);
    },
  ],
  [
    'of a refresh token',
    async () => {
      const cookie = await flow.signIn(await identity.people.user());
      const { refresh_token } = await flow.tokens(client, cookie);
      return async () => flow.refresh(client, refresh_token);
    },
  ],
];

const expectUnavailable = ({ status, body, headers }: Answer) => {
  const description = expect.stringMatching(/\S/);
  expect([status, body, headers['retry-after']]).toEqual([
    503,
    {
      success: false,
      error: 'database_unavailable',
      message: description,
      error_description: description,
    },
    '1',
  ]);
};
const expectTokens = async ({ status, body }: Answer) => {
  expect(status).toBe(200);
  expect((await present(identity.http, body.access_token)).status).toBe(200);
};
const waitsForLock = async () => {
  const { rows } = await direct.query('SELECT FROM pg_locks WHERE NOT granted');
  return rows.length > 0;
};

describe.each(ways)('losing the database during the exchange %s', (_what, begin) => {
  test('before the commit: 503, and the client can retry with the same one', async () => {
    const send = await begin();
    await direct.query('BEGIN; LOCK TABLE identity.tokens');
    const answer = send();
    await until(waitsForLock);
    await way.cut();
    expectUnavailable(await answer);
    await direct.query('ROLLBACK');
    await way.mend();
    await expectTokens(await send());
    expect((await send()).status).toBe(400);
  });

  test('after the commit, before its response: the client gets its tokens', async () => {
    const send = await begin();
    const lost = way.loseAnswerToCommit();
    const answer = await send();
    await lost;
    await expectTokens(answer);
    const again = await send();
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant']);
    await expectRefused(identity.http, answer.body.access_token);
  });

  test('for longer: 503, and the client can retry with the same one, once', async () => {
    const send = await begin();
    const lost = way.loseAnswerToCommit();
    const answer = send();
    await lost;
    await way.cut();
    expectUnavailable(await answer);
    await way.mend();
    const second = await send();
    await expectTokens(second);
    expect((await send()).status).toBe(400);
    await expectRefused(identity.http, second.body.access_token);
  });

  test('completely: 503, and nothing has changed', async () => {
    const send = await begin();
    await way.cut();
    expectUnavailable(await send());
    await way.mend();
    await expectTokens(await send());
  });
});

test('without the database an authorization is 503 with Retry-After', async () => {
  const cookie = await flow.signIn(await identity.people.user());
  await way.cut();
  const answer = await flow.authorize(flow.query(client, 'c'.repeat(43)), cookie);
  await way.mend();
  expectUnavailable(answer);
});
