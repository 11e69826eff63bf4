/**
 * How long PostgreSQL lets a connection that holds a lock be without a query, in milliseconds. It then closes the
 * connection, which releases the lock, so that another replica takes over from one that is frozen or unreachable. This
 * depends on no clock of a replica, and when the replica continues, its connection is gone.
 */
export const LEASE_MS = 4000;

/** How often the holder sends a query. */
export const BEAT_MS = 1000;
