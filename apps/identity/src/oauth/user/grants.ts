import type { Grant, KoaContextWithOIDC } from 'oidc-provider';
import { isOidcScope } from '../../tokens/scopes.ts';
import { errors } from '../oidc-provider.ts';
import { isTrusted, tenantOf } from './clients.ts';
import { allows, type Consent, findConsent } from './consent-store.ts';
import { current } from './current.ts';
import type { WebSession } from './web-session.ts';

/**
 * The tenant that a user acts in through a client: the client's own, or else the one that is active. A
 * tenant's client is for its members: everybody else gets `access_denied`.
 */
export const tenantFor = (session: WebSession, clientTenant: string | null): string | null => {
  if (clientTenant === null) return session.tenantIds[0] ?? null;
  if (session.tenantIds.includes(clientTenant)) return clientTenant;
  throw new errors.AccessDenied('the user is not a member of the tenant');
};

/** Consent that was given before to all that is asked for; null where the user has to be asked. */
const consentTo = async (
  { oidc: { client, requestParamScopes } }: KoaContextWithOIDC,
  session: WebSession,
): Promise<Consent | null> => {
  const parties = { userId: session.userId, clientId: client?.clientId ?? '' };
  const consent = await findConsent(current().db, parties);
  return consent && allows(consent, [...requestParamScopes], session.tenantIds) ? consent : null;
};

/**
 * The grant of a request, where nothing stands before it but consent: each has one of its own, so that the
 * end of one chain of tokens ends no other. It holds exactly what was asked for; a client that is not
 * trusted gets it only where the user has consented.
 */
export const grantOf = async (ctx: KoaContextWithOIDC): Promise<Grant | undefined> => {
  const { oidc } = ctx;
  const { client, provider, requestParamScopes } = oidc;
  const { session } = current();
  if (!client || !session || session.pinPending || session.forcePasswordChange) return undefined;
  const isAsking = ['login', 'select_account', 'create'].some((name) => oidc.promptPending(name));
  if (isAsking) return undefined;
  let tenantId = tenantFor(session, tenantOf(client));
  if (!isTrusted(client)) {
    const consent = oidc.promptPending('consent') ? null : await consentTo(ctx, session);
    if (!consent) return undefined;
    tenantId = consent.tenantId;
  }
  const { id: sessionId, userId, expiresAt } = session;
  current().chain = { userId, sessionId, tenantId, name: null, expiresAt };
  const grant = new provider.Grant({ clientId: client.clientId, accountId: userId });
  const scopes = [...requestParamScopes];
  grant.addOIDCScope(scopes.filter(isOidcScope));
  grant.addResourceScope(
    provider.issuer,
    scopes.filter((scope) => !isOidcScope(scope)),
  );
  await grant.save();
  return grant;
};
