import type { Test } from 'supertest';
import type { Token, User } from '../generated/prisma/client.ts';
import type { TestIdentity } from './identity.ts';
import type { Bearer } from './population.ts';
import { claimsOf } from './tokens.ts';

export const bearerOf = (token: string): Bearer => ({ authorization: `Bearer ${token}` });

/** The token of a new sign-in. */
export const signedIn = async ({ people }: TestIdentity, user: User): Promise<string> =>
  (await people.signIn(user)).authorization.slice('Bearer '.length);

export const refresh = ({ http }: Pick<TestIdentity, 'http'>, token: string): Test =>
  http.post('/api/auth/refresh').set(bearerOf(token));

/** The new token for an old one. */
export const refreshed = async (identity: TestIdentity, token: string): Promise<string> => {
  const { status, body } = await refresh(identity, token);
  if (status !== 200) throw new Error(`It was not renewed: ${JSON.stringify(body)}`);
  return body.data.token;
};

export const recordOf = ({ context }: TestIdentity, token: string): Promise<Token> =>
  context.database.token.findUniqueOrThrow({ where: { id: claimsOf(token).jti ?? '' } });

/** What services were told of a user, in order. */
export const publishedEventsOf = async (
  { context }: TestIdentity,
  { id: key }: User,
): Promise<object[]> => {
  const events = await context.database.outboxEvent.findMany({
    where: { key },
    orderBy: { id: 'asc' },
  });
  return events.map(({ topic, payload }) => ({
    topic,
    ...(payload as unknown as { data: object }).data,
  }));
};

/** What a user did, in order. */
export const activityOf = ({ context }: TestIdentity, { id: userId }: User) =>
  context.database.activityEntry.findMany({
    where: { userId },
    orderBy: { id: 'asc' },
    select: { action: true, tenantId: true, ipAddress: true, userAgent: true },
  });
