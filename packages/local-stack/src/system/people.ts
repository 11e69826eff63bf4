import type { Stack } from '../stack.ts';
import { bodyOf, identityClient } from './clients.ts';

/** Signs in with one of the stack's accounts; returns the token. */
export const signIn = async (
  stack: Stack,
  who: 'administrator' | 'owner' | 'viewer' | 'person' | 'other_owner',
): Promise<string> => {
  const { email, password } = stack.system[who];
  const body = { email, password };
  return bodyOf(await identityClient(stack).POST('/api/auth/login', { body })).data.token;
};
