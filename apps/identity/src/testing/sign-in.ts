import type { Response } from 'supertest';
import type { User } from '../generated/prisma/client.ts';
import type { TestIdentity } from './identity.ts';
import { type Bearer, PASSWORD } from './population.ts';

type Headers = Readonly<Record<string, string>>;

/** The steps of a sign-in, as a client takes them one by one. */
export const stepsOf = ({ http }: Pick<TestIdentity, 'http'>) => {
  const bearerOf = ({ body }: Response): Bearer => ({
    authorization: `Bearer ${body.data.token}`,
  });
  return {
    bearerOf,
    /** Address and password; `headers` may hold the cookie of a device. */
    login: async (
      { email }: User,
      headers: Headers = {},
      { password = PASSWORD, remember = false } = {},
    ): Promise<Response> =>
      http.post('/api/auth/login').set(headers).send({ email, password, remember }),
    /** The second factor. */
    verify: async (bearer: Headers, code: unknown, more: object = {}): Promise<Response> =>
      http
        .post('/api/auth/2fa/verify')
        .set(bearer)
        .send({ code, ...more }),
    verifyPin: async (bearer: Headers, pin: unknown): Promise<Response> =>
      http.post('/api/auth/pin/verify').set(bearer).send({ pin }),
  };
};
