import type { Grant, KoaContextWithOIDC } from 'oidc-provider';
import { isOidcScope } from '../../tokens/scopes.ts';
import { errors } from '../oidc-provider.ts';
import { requestContext } from './request-context.ts';
import { clientTenantId, isTrusted } from './stores/clients.ts';
import { type Consent, covers, findConsent } from './stores/consents.ts';
import type { WebSession } from './stores/web-sessions.ts';

/** Whether a user may act through a client: one of a tenant is for members of that tenant only. */
export const isAdmitted = ({ tenantIds }: WebSession, clientTenant: string | null): boolean =>
  clientTenant === null || tenantIds.includes(clientTenant);

/**
 * The tenant that a user acts in through a client: the client's own tenant, or else the user's active one.
 * `access_denied` if the client belongs to a tenant that the user is not a member of.
 */
export const actingTenantId = (session: WebSession, clientTenant: string | null): string | null => {
  if (!isAdmitted(session, clientTenant)) {
    throw new errors.AccessDenied('the user is not a member of the tenant');
  }
  return clientTenant ?? session.tenantIds[0] ?? null;
};

/** An earlier consent that covers everything requested; null if the user has to be asked. */
const earlierConsent = async (
  { oidc: { client, requestParamScopes } }: KoaContextWithOIDC,
  session: WebSession,
): Promise<Consent | null> => {
  const parties = { userId: session.userId, clientId: client?.clientId ?? '' };
  const consent = await findConsent(requestContext().db, parties);
  return consent && covers(consent, [...requestParamScopes], session.tenantIds) ? consent : null;
};

/**
 * Makes the grant of a request when nothing but consent stands before its code. Each request gets its own
 * grant, so that the end of one token chain ends no other. It holds exactly the requested scopes; a client
 * that is not trusted gets it only with the user's consent.
 */
export const grantFor = async (ctx: KoaContextWithOIDC): Promise<Grant | undefined> => {
  const { oidc } = ctx;
  const { client, provider, requestParamScopes } = oidc;
  const request = requestContext();
  const { session } = request;
  if (!client || !session || session.pinPending || session.forcePasswordChange) return undefined;
  const isAsking = ['login', 'select_account', 'create'].some((name) => oidc.promptPending(name));
  if (isAsking) return undefined;
  let tenantId = actingTenantId(session, clientTenantId(client));
  if (!isTrusted(client)) {
    const consent = oidc.promptPending('consent') ? null : await earlierConsent(ctx, session);
    if (!consent) return undefined;
    tenantId = consent.tenantId;
  }
  const { id: sessionId, userId, expiresAt } = session;
  request.chain = { userId, sessionId, tenantId, name: null, expiresAt };
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
