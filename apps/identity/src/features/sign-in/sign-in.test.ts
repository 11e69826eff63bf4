import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { PASSWORD } from '../../testing/population.ts';

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

const login = (body: object) => identity.http.post('/api/auth/login').send(body);

describe('signing in', () => {
  test('gives a token, a user and a session cookie', async () => {
    const tenant = await identity.people.tenant();
    const user = await identity.people.user({ tenant });
    const answer = await login({ email: user.email, password: PASSWORD });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      data: {
        token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        expires_in: 3600,
        refresh_expires_in: 2_592_000,
        user: {
          id: user.id,
          email: user.email,
          name: 'Ada Tester',
          first_name: 'Ada',
          last_name: 'Tester',
        },
        requires_2fa: false,
        requires_pin: false,
      },
    });
  });
});
