import { errors, type Grant, type KoaContextWithOIDC } from 'oidc-provider';
import { isTrusted, tenantOf } from './clients.ts';
import { type Chain, current } from './current.ts';
import type { WebSession } from './web-session.ts';

/** The scope that every access token has: it reads as "may call the services as this user". */
export const API_SCOPE = 'api';
export const OIDC_SCOPES = ['openid', 'profile', 'email', 'phone', 'offline_access'];

/**
 * The chain that an authorization begins, in the client's tenant, or else in the user's default one.
 * A member only gets a code for a tenant's client: `access_denied`.
 */
const newChain = (session: WebSession, clientTenant: string | null): Chain => {
  if (clientTenant !== null && !session.tenantIds.includes(clientTenant)) {
    throw new errors.AccessDenied('the user is no member of the tenant');
  }
  return {
    userId: session.userId,
    sessionId: session.id,
    tenantId: clientTenant ?? session.tenantIds[0] ?? null,
    name: null,
    expiresAt: session.expiresAt,
  };
};

/** What the user has consented to: just now, or before in this session. */
const consented = (ctx: KoaContextWithOIDC): Promise<Grant | undefined> | undefined => {
  const { client, session, result, provider } = ctx.oidc;
  const id = result?.consent?.grantId ?? session?.grantIdFor(client?.clientId ?? '');
  return id === undefined ? undefined : provider.Grant.find(id);
};

/**
 * The grant of a request, where nothing stands before it but consent: each has one of its own, so that the end of one chain of tokens ends no other.
 * A trusted client gets what it asks for, any other what the user has consented to.
 */
export const grantOf = async (ctx: KoaContextWithOIDC): Promise<Grant | undefined> => {
  const { client, provider, prompts, requestParamScopes } = ctx.oidc;
  const { session } = current();
  if (!client || !session || session.pinPending || session.forcePasswordChange) return undefined;
  if (prompts.has('login')) return undefined;
  current().chain = newChain(session, tenantOf(client));
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.userId });
  if (isTrusted(client)) {
    grant.addOIDCScope(OIDC_SCOPES.filter((scope) => requestParamScopes.has(scope)));
    grant.addResourceScope(provider.issuer, API_SCOPE);
  } else {
    const consent = await consented(ctx);
    if (!consent) return undefined;
    Object.assign(grant, { openid: consent.openid, resources: consent.resources });
  }
  await grant.save();
  return grant;
};
