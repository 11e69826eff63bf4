import type { Readable } from 'node:stream';
import { Shares } from '@tessera/fair-shares';
import { tooManyDownloads } from './file-limits.ts';

/**
 * How many contents this process sends at the same time. A client may read as slowly as it likes, and each holds a file
 * descriptor or a connection to the store, and buffers.
 */
const DOWNLOADS = 1000;

/** Who downloads: a member of the tenant, or somebody who has a link or reads what is public. */
export type Reader = 'member' | 'public';

/** Opens a content for a response of a tenant, and counts it until its stream is closed. Throws 429. */
export type CountDownload = (
  tenantId: string,
  reader: Reader,
  open: () => Promise<Readable>,
) => Promise<Readable>;

/**
 * Returns how the downloads of this process are shared: the members of one tenant have half of what the others leave, and so has
 * its public, which therefore never keeps members from their files.
 */
export const createDownloadShares = (total = DOWNLOADS): CountDownload => {
  const shares = new Shares(total);
  return async (tenantId, reader, open) => {
    const key = `${reader} ${tenantId}`;
    if (!shares.take(key)) throw tooManyDownloads(shares.heldBy(key));
    try {
      const content = await open();
      return content.once('close', () => shares.give(key));
    } catch (error) {
      shares.give(key);
      throw error;
    }
  };
};
