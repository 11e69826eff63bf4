import { until } from '@tessera/local-stack';
import { advisoryLocks } from '../../database.ts';
import type { User } from '../../generated/prisma/client.ts';
import {
  activityOf,
  publishedEventsOf,
  recordOf,
  refresh,
  refreshed,
  signedIn,
} from '../../testing/sessions.ts';
import { startSeverableIdentity } from '../../testing/severable-identity.ts';
import { claimsOf, expectRefused, present } from '../../testing/tokens.ts';

const { identity, way, direct, stop } = await startSeverableIdentity();
afterAll(stop);

let user: User;
let token: string;
beforeEach(async () => {
  user = await identity.people.user();
  token = await signedIn(identity, user);
});

const chainLength = () =>
  identity.context.database.token.count({ where: { sessionId: claimsOf(token).sid } });
const expectUnavailable = ({ status, body, headers }: Awaited<ReturnType<typeof refresh>>) =>
  expect([status, body.error, headers['retry-after']]).toEqual([503, 'database_unavailable', '1']);

describe('losing the database during a renewal', () => {
  test('before the commit: 503, and the old token remains valid', async () => {
    // Holds up the event of the change, its last statement.
    const turn = `${advisoryLocks.eventOrder}, hashtext('${user.id}') & 1023`;
    await direct.query(`SELECT pg_advisory_lock(${turn})`);
    const answer = refresh(identity, token).then((given) => given);
    await until(async () => {
      const { rows } = await direct.query(
        "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted",
      );
      return rows.length === 1;
    });
    await way.cut();
    expectUnavailable(await answer);
    await direct.query(`SELECT pg_advisory_unlock(${turn})`);
    await way.mend();
    expect((await present(identity.http, token)).status).toBe(200);
    const next = await refreshed(identity, token);
    expect((await present(identity.http, next)).status).toBe(200);
    expect(await chainLength()).toBe(2);
  });

  test('after the commit, before its response: the client gets the new token', async () => {
    const lost = way.loseAnswerToCommit();
    const answer = await refresh(identity, token);
    await lost;
    expect(answer.status).toBe(200);
    const next = answer.body.data.token;
    expect((await present(identity.http, next)).status).toBe(200);
    expect((await recordOf(identity, token)).replacedById).toBe(claimsOf(next).jti);
    expect(await chainLength()).toBe(2);
    await expectRefused(identity.http, token);
    expect((await refresh(identity, token)).status).toBe(422);
  });

  test('for longer: 503, and the old token still yields the new one, once', async () => {
    const lost = way.loseAnswerToCommit();
    const answer = refresh(identity, token).then((given) => given);
    await lost;
    await way.cut();
    expectUnavailable(await answer);
    await way.mend();
    const next = await refreshed(identity, token);
    expect((await present(identity.http, next)).status).toBe(200);
    expect(await chainLength()).toBe(2);
    const reasons = (await publishedEventsOf(identity, user)).map(
      (told) => 'reason' in told && told.reason,
    );
    expect(new Set(reasons)).toEqual(new Set(['rotated']));
    expect((await refresh(identity, token)).status).toBe(422);
    expect((await activityOf(identity, user)).at(-1)?.action).toBe('token_reused');
  });

  test('completely: 503 at once, and nothing has changed', async () => {
    await way.cut();
    expectUnavailable(await refresh(identity, token));
    await way.mend();
    expect((await refresh(identity, token)).status).toBe(200);
  });
});
