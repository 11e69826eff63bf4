import { HttpError, unavailable } from '@tessera/http-kit';

/** 413: the tenant's quota does not have room for the file; tells how many bytes are left. */
export const quotaExceeded = (left: number): HttpError =>
  new HttpError(413, 'storage_quota_exceeded', `The quota has ${left} bytes left.`, {
    details: { bytes_left: left },
  });

/** 503: the store does not answer, or does not have the file. */
export const fileUnavailable = (cause: unknown): HttpError =>
  unavailable('file_unavailable', 'The file is not available. Try again later.', cause);

/** 507: the store has no room, whatever the quota of the tenant. */
export const storageFull = (cause: unknown): HttpError =>
  new HttpError(507, 'storage_full', 'The file store is full.', { cause });

/** 429: the tenant has its share of the downloads of this process. */
export const tooManyDownloads = (count: number): HttpError =>
  new HttpError(
    429,
    'too_many_downloads',
    `${count} downloads of the tenant are under way, which is its share. Try again when one has ended.`,
    { headers: { 'Retry-After': '10' }, details: { downloads: count } },
  );
