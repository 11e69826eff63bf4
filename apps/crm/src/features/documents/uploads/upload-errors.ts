import { HttpError } from '@tessera/http-kit';

/** 409: the offset is not the end of the bytes that have arrived. */
export const offsetConflict = (): HttpError =>
  new HttpError(
    409,
    'conflict',
    'Upload-Offset is not the number of bytes that the service has. Request the offset with HEAD, and continue from there.',
  );

/** 410: the upload was not finished in time. */
export const uploadExpired = (): HttpError =>
  new HttpError(410, 'upload_expired', 'The upload has expired. Start a new one.');

/** 423: another request is joining the parts of the upload. */
export const uploadBusy = (): HttpError =>
  new HttpError(423, 'upload_busy', 'Another request is completing the upload. Try again later.');

/** 429: as many resumable uploads are unfinished as the limit allows. */
export const tooManyUnfinished = (limit: string, maximum: number): HttpError =>
  new HttpError(
    429,
    'too_many_uploads',
    `${maximum} resumable uploads are unfinished, which is the limit. Finish one, or cancel one.`,
    { headers: { 'Retry-After': '60' }, details: { limit, max_uploads: maximum } },
  );
