import { described, oneOf } from '@tessera/fields';
import { HttpError } from '@tessera/http-kit';

export const scanStatuses = ['not_scanned', 'pending', 'clean', 'infected'] as const;
export type ScanStatus = (typeof scanStatuses)[number];

export const scanStatus = described(
  oneOf(...scanStatuses),
  'A file is not served while it is `pending` or if it is `infected`.',
);

/** Throws 409 `scan_pending` or `file_quarantined` unless a file may be served. */
export const requireServable = (status: ScanStatus): void => {
  if (status === 'pending') {
    throw new HttpError(
      409,
      'scan_pending',
      'The file is being scanned for malware. Try again later.',
    );
  }
  if (status === 'infected') {
    throw new HttpError(
      409,
      'file_quarantined',
      'The file contains malware. It cannot be downloaded.',
    );
  }
};
