import { AsyncLocalStorage } from 'node:async_hooks';
import { LRUCache } from 'lru-cache';
import type { Database, Transaction } from '../../database.ts';
import type { Origin } from '../../origin/origin.ts';
import type { News } from '../../outbox/outbox.ts';
import type { SessionUses } from '../../tokens/session-uses.ts';
import type { WebSession } from './web-session.ts';

/** The tokens of one session and client: it keeps its tenant, and ends with the session (decision I4). */
export interface Chain {
  readonly userId: string;
  readonly sessionId: string;
  readonly tenantId: string | null;
  /** What its tokens are called: `tenant-switch:<tenant_id>` where it began by a tenant switch. */
  readonly name: string | null;
  /** When the session ends. */
  readonly expiresAt: Date;
}

/** Bounded: it grows by what is under way whenever the database goes away for long. */
export type Unheard = LRUCache<string, true>;

export const nothingUnheard = (): Unheard => new LRUCache({ max: 10_000 });

export interface Spent {
  readonly key: string;
  readonly transactionId: string;
}

/** What is known of the request under way; the provider hands none of it to its hooks and stores. */
export interface Current {
  /** The transaction of a token request; the database itself elsewhere. */
  db: Database | Transaction;
  readonly origin: Origin;
  /** Where a page sends the browser when it is done. */
  readonly returnTo?: string;
  /** Who is at the browser. */
  session?: WebSession;
  chain?: Chain;
  /** The scopes of the token that is issued. */
  scopes?: readonly string[];
  /** What there is to tell when it commits. */
  readonly news: News[];
  /** The code or refresh token that it spends, and the transaction in which it does. */
  spent?: Spent;
  /** Where the uses of sessions are noted. */
  readonly sessionUses: Pick<SessionUses, 'note' | 'idleAfter'>;
  /** By `keyOf`, what may have been spent by a transaction whose end was never heard. */
  readonly unheard: Unheard;
}

const requests = new AsyncLocalStorage<Current>();

/** Runs what belongs to one request. */
export const within = <T>(request: Current, work: () => Promise<T>): Promise<T> =>
  requests.run(request, work);

/** The request under way; throws where there is none. */
export const current = (): Current => {
  const request = requests.getStore();
  if (!request) throw new Error('The provider works outside of a request.');
  return request;
};

/** The chain that the request is about; throws where nobody has signed in. */
export const currentChain = (): Chain => {
  const { chain } = current();
  if (!chain) throw new Error('There is no session that the request belongs to.');
  return chain;
};

/** Seconds until the chain ends, and no more than `most`. */
export const secondsLeft = (most = Number.POSITIVE_INFINITY): number => {
  const left = Math.floor((+currentChain().expiresAt - Date.now()) / 1000);
  return Math.max(1, Math.min(most, left));
};
