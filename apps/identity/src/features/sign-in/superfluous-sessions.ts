import type { Transaction } from '../../database.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { endSessions } from '../../tokens/revoke.ts';

/** How many sessions of a user are open at once, so that what ends or lists all of them stays short. */
export const MAX_OPEN_SESSIONS = 1000;

/** Ends the least recently used sessions of a user beyond MAX_OPEN_SESSIONS. The caller must hold the lock of the user. */
export const endSuperfluousSessions = async (tx: Transaction, userId: string): Promise<void> => {
  const superfluous = await tx.session.findMany({
    where: { userId, endedAt: null, expiresAt: { gt: new Date() } },
    orderBy: [{ lastActiveAt: 'desc' }, { id: 'desc' }],
    skip: MAX_OPEN_SESSIONS,
    select: { id: true },
  });
  if (superfluous.length === 0) return;
  const sessionIds = superfluous.map(({ id }) => id);
  await enqueue(tx, ...(await endSessions(tx, { userId, sessionIds }, 'too_many_sessions')));
};
