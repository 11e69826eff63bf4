import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { errors } from '../oidc-provider.ts';

/** RFC 7636 section 4.2. */
const CHALLENGE = /^[\w.~-]{43,128}$/;

const hasChallenge = ({ oidc: { params } }: KoaContextWithOIDC): boolean =>
  params?.code_challenge_method === 'S256' && CHALLENGE.test(String(params.code_challenge));

/**
 * What goes wrong is told to the client by a redirect, except for what cannot be a request of a genuine
 * client at all: without a challenge of S256 it is 400 (identity.md section 4.4).
 */
export const refuseDirectly = (provider: Provider): void => {
  provider.on('authorization.error', (ctx, error) => {
    if (error instanceof errors.InvalidRequest && !hasChallenge(ctx)) error.allow_redirect = false;
  });
};
