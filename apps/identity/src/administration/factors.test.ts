import type { User } from '../generated/prisma/client.ts';
import { commandsOf } from '../testing/commands.ts';
import { startIdentity } from '../testing/identity.ts';
import type { Bearer } from '../testing/population.ts';
import { stepsOf } from '../testing/sign-in.ts';

const identity = await startIdentity();
afterAll(() => identity.stop());

let user: User;
let bearer: Bearer;
beforeEach(async () => {
  user = await identity.people.user({ tenant: await identity.people.tenant() });
  bearer = await identity.people.signIn(user);
});

const remove = (email: string | null, factor: string) =>
  commandsOf(identity)('remove-factor', email ?? '', factor);
const signIn = () => stepsOf(identity).login(user);

describe('identity-admin remove-factor', () => {
  test('removes a forgotten PIN and signs the user out everywhere', async () => {
    await identity.people.setPin(bearer, '192837');
    expect((await signIn()).body.data.requires_pin).toBe(true);
    await remove(user.email?.toUpperCase() ?? '', 'pin');
    expect((await identity.http.get('/api/me').set(bearer)).status).toBe(401);
    expect((await signIn()).body.data.requires_pin).toBe(false);
  });

  test('removes a lost second factor and its recovery codes', async () => {
    await identity.people.enableTwoFactor(user, bearer);
    await remove(user.email, 'two-factor');
    expect((await signIn()).body.data.requires_2fa).toBe(false);
    const { database } = identity.context;
    expect(await database.recoveryCode.count({ where: { userId: user.id } })).toBe(0);
    const [entry] = await database.activityEntry.findMany({
      where: { userId: user.id, action: 'two_factor_removed' },
    });
    expect(entry).toBeDefined();
    const events = await database.outboxEvent.findMany({ where: { key: user.id } });
    expect(events.map(({ payload }) => (payload as { data: object }).data)).toContainEqual({
      user_id: user.id,
      reason: 'factor_removed',
    });
  });

  test('of an unknown user, or of a factor that is not enabled, is rejected, and nobody is signed out', async () => {
    await expect(remove('nobody@example.test', 'pin')).rejects.toThrow('There is no user');
    await expect(remove(user.email, 'pin')).rejects.toThrow('pin is not on');
    expect((await identity.http.get('/api/me').set(bearer)).status).toBe(200);
  });
});
