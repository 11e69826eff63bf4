import type { Readable } from 'node:stream';
import { Shares } from '@tessera/fair-shares';
import { tooManyDownloads } from './file-limits.ts';

/**
 * How many contents this process sends at the same time. A client may read as slowly as it likes, and each holds a file
 * descriptor or a connection to the store, and buffers.
 */
const DOWNLOADS = 1000;

/** Opens a content for a response of a tenant, and counts it until its stream is closed. Throws 429. */
export type CountDownload = (tenantId: string, open: () => Promise<Readable>) => Promise<Readable>;

/**
 * Returns how the downloads of this process are shared: one tenant has half of what the others leave, whoever downloads,
 * members and those who have a link alike.
 */
export const createDownloadShares = (total = DOWNLOADS): CountDownload => {
  const shares = new Shares(total);
  return async (tenantId, open) => {
    if (!shares.take(tenantId)) throw tooManyDownloads(shares.heldBy(tenantId));
    try {
      const content = await open();
      return content.once('close', () => shares.give(tenantId));
    } catch (error) {
      shares.give(tenantId);
      throw error;
    }
  };
};
