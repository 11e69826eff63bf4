import { setTimeout as pause } from 'node:timers/promises';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { note } from '../../activity/activity.ts';
import type { Database } from '../../database.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { revokeUserTokens } from '../../tokens/revoke.ts';
import type { Middleware } from '../forward.ts';
import { requestContext, tokenChain } from './request-context.ts';
import { clientKind } from './stores/clients.ts';

/** Milliseconds to wait for a database that was lost during a commit. */
const RECONNECT_MS = 5000;

/** Rolls a transaction back without being an error. */
class RolledBack extends Error {}

/**
 * Whether a transaction whose commit was not confirmed has committed (`pg_xact_status`); undefined if the
 * database does not come back in time.
 */
const hasCommitted = async (
  database: Database,
  transactionId: string,
): Promise<boolean | undefined> => {
  const deadline = Date.now() + RECONNECT_MS;
  while (Date.now() < deadline) {
    try {
      const [{ status } = { status: null }] = await database.$queryRaw<{ status: string | null }[]>`
        SELECT pg_xact_status(${transactionId}::xid8) AS status`;
      if (status !== 'in progress') return status === 'committed';
    } catch {
      // Not reachable yet.
    }
    await pause(50);
  }
  return undefined;
};

const isReuse = ({ status, oidc }: KoaContextWithOIDC): boolean =>
  status === 400 && oidc?.entities.RefreshToken?.consumed !== undefined;

/**
 * Ends everything of the user when a refresh token that was already replaced is presented: it may have been
 * copied, and it is not known who holds the new one (decision I4). The clients of tenants and third parties must not
 * be able to sign the user out of everything else: theirs ends the grant alone, which the provider has already done.
 */
const endOnReuse = async (ctx: KoaContextWithOIDC): Promise<void> => {
  if (!isReuse(ctx)) return;
  const { db, events, origin } = requestContext();
  const { userId, tenantId } = tokenChain();
  const { client } = ctx.oidc;
  const isForeign = client !== undefined && clientKind(client) !== 'first_party';
  if (!isForeign) events.push(await revokeUserTokens(db, { userId }, 'token_reused'));
  const action = isForeign ? 'application_token_reused' : 'token_reused';
  await note(db, { userId, tenantId, ...origin }, action);
};

/** Whether a renewal was refused after its refresh token was spent. Nothing is revoked in between. */
const isRefusedRenewal = ({ status, oidc }: KoaContextWithOIDC): boolean =>
  status >= 400 && oidc?.entities.RotatedRefreshToken !== undefined;

/**
 * Handles a token request in one transaction that commits before the answer is sent, also when the answer is
 * a refusal: what a refusal revokes stays revoked. So either the client has its new tokens, or its code or
 * refresh token can still be used; a refusal does not spend a refresh token, which repeating the request would
 * otherwise present a second time. If it remains unknown whether the commit succeeded, the code or refresh
 * token is accepted once more.
 */
export const inOneTransaction =
  (database: Database): Middleware =>
  async (ctx, next) => {
    const request = requestContext();
    let isComplete = false;
    try {
      await database.$transaction(async (tx) => {
        request.db = tx;
        await next();
        const answered = ctx as KoaContextWithOIDC;
        const isFailure = ctx.respond === false || ctx.status >= 500;
        if (isFailure || isRefusedRenewal(answered)) throw new RolledBack();
        await endOnReuse(answered);
        if (request.events.length > 0) await enqueue(tx, ...request.events);
        if (request.spent) request.uncertainCommits.delete(request.spent.key);
        isComplete = true;
      });
    } catch (error) {
      if (error instanceof RolledBack) return;
      const { spent } = request;
      if (isComplete && spent) {
        const committed = await hasCommitted(database, spent.transactionId);
        if (committed) return;
        if (committed === undefined) request.uncertainCommits.set(spent.key, true);
      }
      ctx.app.emit('server_error', ctx, error);
    }
  };
