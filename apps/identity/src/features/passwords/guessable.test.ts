import type { User } from '../../generated/prisma/client.ts';
import { startIdentity } from '../../testing/identity.ts';
import { type Bearer, PASSWORD } from '../../testing/population.ts';

const identity = await startIdentity({ BRAND_NAME: 'Blue Heron', REGISTRATION_ENABLED: 'true' });
afterAll(() => identity.stop());

let user: User;
let bearer: Bearer;
beforeEach(async () => {
  const email = `zsofia.kis.${Date.now()}@example.test`;
  const data = { email, firstName: 'Zsófia', lastName: 'Kis' };
  user = await identity.people.user({ data });
  bearer = await identity.people.signIn(user);
});

const change = (password: string) =>
  identity.http.put('/api/user/password').set(bearer).send({
    current_password: PASSWORD,
    new_password: password,
    new_password_confirmation: password,
  });

const COMMON =
  'the password must not be a common one, with or without digits and symbols at its end';

describe('an easily guessed password is rejected', () => {
  test.each([
    ['a common one with digits and a symbol', 'Password1234!', COMMON],
    ['a common one in another case', 'PaSsWoRd!!!!2026', COMMON],
    ['a common one with a special character in it', 'P@ssw0rd#12345', COMMON],
    [
      'one with the name, whatever its accents',
      'x-ZSOFIA-99-aa',
      'the password must not contain your name',
    ],
    [
      'one with the brand',
      'My-Blue Heron-7',
      'the password must not contain the name of this service',
    ],
    [
      'one with the brand in one word',
      'My-blueheron-7',
      'the password must not contain the name of this service',
    ],
  ])('%s', async (_, password, message) => {
    const { status, body } = await change(password);
    expect([status, body.errors]).toEqual([422, { new_password: [message] }]);
  });

  test('if it contains the email address or its local part', async () => {
    const [local = ''] = user.email?.split('@') ?? [];
    for (const password of [`A-${local}-9`, `A9-${user.email}`]) {
      const { status, body } = await change(password);
      expect([status, body.errors.new_password]).toEqual([
        422,
        expect.arrayContaining(['the password must not contain your e-mail address']),
      ]);
    }
  });

  test('but it may contain a name of three letters, and words that are not common passwords', async () => {
    expect((await change('Kis-harbour-27-lamp')).status).toBe(200);
  });

  test('also at registration', async () => {
    const { status, body } = await identity.http.post('/api/auth/register').send({
      first_name: 'Grace',
      last_name: 'Hopper',
      email: 'grace@example.test',
      password: 'Hopper-9-harbour',
      password_confirmation: 'Hopper-9-harbour',
      tenant_name: 'Navy',
    });
    expect([status, body.errors]).toEqual([
      422,
      { password: ['the password must not contain your name'] },
    ]);
  });
});
