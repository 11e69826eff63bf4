import { createHash, randomBytes } from 'node:crypto';
import type { LocalSystem } from '../credentials.ts';
import type { Stack } from '../stack.ts';
import { bodyOf, identityClient } from './clients.ts';

/**
 * Request options that send the body as a form. The client would serialize it by its content type, but not inside
 * Jest: it tests `instanceof Function`, and the functions of `Headers` are from another realm there.
 */
export const asForm = {
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  bodySerializer: (body: object) => new URLSearchParams(Object.entries(body)),
};

/** Requests a token for the system application, by default with all of its scopes. */
export const requestSystemToken = (
  stack: Stack,
  scope: string = stack.system.system_application.scope,
) => {
  const { client_id, client_secret } = stack.system.system_application;
  return identityClient(stack).POST('/api/oauth/token', {
    ...asForm,
    body: { grant_type: 'client_credentials', client_id, client_secret, scope },
  });
};

/** A token of the system application, by default with all of its scopes. */
export const systemToken = async (stack: Stack, scope?: string): Promise<string> =>
  bodyOf(await requestSystemToken(stack, scope)).access_token;

/** An access token of a user from the code flow of one of the stack's clients. */
export const userToken = async (
  stack: Stack,
  who: 'owner' | 'administrator',
  client: keyof LocalSystem['clients'],
  scope?: string,
): Promise<string> => {
  const { email, password } = stack.system[who];
  const { client_id, client_secret, redirect_uris } = stack.system.clients[client];
  const [redirect_uri = ''] = redirect_uris;
  const identity = identityClient(stack);
  const login = await identity.POST('/api/auth/login', { body: { email, password } });
  const cookie = login.response.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ');
  const code_verifier = randomBytes(32).toString('base64url');
  const query = {
    client_id,
    redirect_uri,
    response_type: 'code',
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
  } as const;
  const authorized = await identity.GET('/oauth/authorize', {
    params: { query: scope === undefined ? query : { ...query, scope } },
    headers: { cookie },
    redirect: 'manual',
  });
  const location = authorized.response.headers.get('location');
  const code = new URL(location ?? '').searchParams.get('code');
  if (code === null) throw new Error(`No code: ${location}`);
  const grant = {
    grant_type: 'authorization_code',
    client_id,
    code,
    redirect_uri,
    code_verifier,
  } as const;
  const granted = await identity.POST('/oauth/token', {
    ...asForm,
    body: client_secret === null ? grant : { ...grant, client_secret },
  });
  return bodyOf(granted).access_token;
};
