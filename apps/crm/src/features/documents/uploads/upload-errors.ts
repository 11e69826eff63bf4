import { HttpError } from '@tessera/http-kit';

/** 409: the bytes do not belong at the end of what has arrived. */
export const offsetConflict = (): HttpError =>
  new HttpError(
    409,
    'conflict',
    'The upload does not have as many bytes as Upload-Offset says. Ask for its state, and continue from there.',
  );

/** 410: the upload was not finished in time. */
export const uploadExpired = (): HttpError =>
  new HttpError(410, 'upload_expired', 'The upload has expired. Begin a new one.');

/** 423: the parts of the upload are being put together. */
export const uploadBusy = (): HttpError =>
  new HttpError(423, 'upload_busy', 'Another request is completing the upload. Try again later.');
