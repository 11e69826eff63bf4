import { setTimeout as pause } from 'node:timers/promises';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Database } from '../../database.ts';
import { enqueue } from '../../outbox/outbox.ts';
import type { Middleware } from '../forward.ts';
import { current } from './current.ts';
import { endAllOnReuse } from './reuse.ts';

/** Milliseconds that an answer waits for a database that went away while it committed. */
const SETTLE_MS = 5000;

/** Ends a transaction of which nothing is to stay. */
class RolledBack extends Error {}

/**
 * Whether a transaction has committed whose end we did not hear (`pg_xact_status`); undefined where the
 * database does not come back in time.
 */
const hasCommitted = async (
  database: Database,
  transactionId: string,
): Promise<boolean | undefined> => {
  const deadline = Date.now() + SETTLE_MS;
  while (Date.now() < deadline) {
    try {
      const [{ status } = { status: null }] = await database.$queryRaw<{ status: string | null }[]>`
        SELECT pg_xact_status(${transactionId}::xid8) AS status`;
      if (status !== 'in progress') return status === 'committed';
    } catch {
      // It is not back yet.
    }
    await pause(50);
  }
  return undefined;
};

/**
 * Answers a token request in one transaction, committed before the answer leaves, also where it is a
 * refusal: what a refusal revokes stays revoked. So a client has its new token, or its code or refresh
 * token is as good as before. Where a commit may have got through unheard, the same one is taken once more.
 */
export const inOneTransaction =
  (database: Database): Middleware =>
  async (ctx, next) => {
    const request = current();
    let isWhole = false;
    try {
      await database.$transaction(async (tx) => {
        request.db = tx;
        await next();
        if (ctx.respond === false || ctx.status >= 500) throw new RolledBack();
        await endAllOnReuse(ctx as KoaContextWithOIDC);
        if (request.news.length > 0) await enqueue(tx, ...request.news);
        if (request.spent) request.unheard.delete(request.spent.key);
        isWhole = true;
      });
    } catch (error) {
      if (error instanceof RolledBack) return;
      const { spent } = request;
      if (isWhole && spent) {
        const committed = await hasCommitted(database, spent.transactionId);
        if (committed) return;
        if (committed === undefined) request.unheard.set(spent.key, true);
      }
      ctx.app.emit('server_error', ctx, error);
    }
  };
