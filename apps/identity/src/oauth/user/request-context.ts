import { AsyncLocalStorage } from 'node:async_hooks';
import { LRUCache } from 'lru-cache';
import type { Database, Transaction } from '../../database.ts';
import type { Origin } from '../../origin/origin.ts';
import type { NewEvent } from '../../outbox/outbox.ts';
import type { SessionUses } from '../../tokens/session-uses.ts';
import type { WebSession } from './stores/web-sessions.ts';

/** The tokens of one session and client: they keep their tenant and end with the session (decision I4). */
export interface TokenChain {
  readonly userId: string;
  readonly sessionId: string;
  readonly tenantId: string | null;
  /** The name of its tokens: `tenant-switch:<tenant_id>` if it began with a tenant switch. */
  readonly name: string | null;
  /** When the session ends. */
  readonly expiresAt: Date;
}

/** Codes and refresh tokens, by hash, that a transaction with an unknown outcome may have spent. */
export type UncertainCommits = LRUCache<string, true>;

/** Bounded, because entries accumulate while the database is unreachable. */
export const createUncertainCommits = (): UncertainCommits => new LRUCache({ max: 10_000 });

/** A code or refresh token, by hash, and the transaction that spends it. */
export interface SpentToken {
  readonly key: string;
  readonly transactionId: string;
}

/** The state of one request. The provider passes none of it to its hooks and stores. */
export interface RequestContext {
  /** The transaction of a token request; otherwise the database itself. */
  db: Database | Transaction;
  readonly origin: Origin;
  /** Where a page sends the browser when it is done. */
  readonly returnTo?: string;
  /** The session of the browser. */
  session?: WebSession;
  chain?: TokenChain;
  /** The scopes of the access token that is being issued. */
  scopes?: readonly string[];
  /** Published when the transaction commits. */
  readonly events: NewEvent[];
  spent?: SpentToken;
  readonly sessionUses: Pick<SessionUses, 'note' | 'idleAfter'>;
  readonly uncertainCommits: UncertainCommits;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs the work of one request. */
export const runInRequest = <T>(context: RequestContext, work: () => Promise<T>): Promise<T> =>
  storage.run(context, work);

/** The context of the current request; throws outside of one. */
export const requestContext = (): RequestContext => {
  const context = storage.getStore();
  if (!context) throw new Error('The provider works outside of a request.');
  return context;
};

/** The token chain of the current request; throws if nobody has signed in. */
export const tokenChain = (): TokenChain => {
  const { chain } = requestContext();
  if (!chain) throw new Error('The request belongs to no session.');
  return chain;
};

/** Seconds until the token chain ends, at most `max`. */
export const secondsLeft = (max = Number.POSITIVE_INFINITY): number => {
  const left = Math.floor((+tokenChain().expiresAt - Date.now()) / 1000);
  return Math.max(1, Math.min(max, left));
};
