import type { ErrorCode } from '@tessera/contracts';
import { described, oneOf } from '@tessera/fields';
import { HttpError } from '@tessera/http-kit';

export const scanStatuses = ['not_scanned', 'pending', 'clean', 'infected', 'unscannable'] as const;
export type ScanStatus = (typeof scanStatuses)[number];

export const scanStatus = described(
  oneOf(...scanStatuses),
  'A file is not served while it is `pending`, or if it is `infected` or `unscannable` (it exceeds a limit of the scanner).',
);

const refusals: Readonly<Partial<Record<ScanStatus, readonly [code: ErrorCode, message: string]>>> =
  {
    pending: ['scan_pending', 'The file is being scanned for malware. Try again later.'],
    infected: ['file_quarantined', 'The file contains malware. It cannot be downloaded.'],
    unscannable: [
      'file_unscannable',
      'The file exceeds a limit of the malware scanner. It cannot be downloaded.',
    ],
  };

/** Whether a file may be served. */
export const isServable = (status: ScanStatus): boolean => refusals[status] === undefined;

/** Throws 409 `scan_pending`, `file_quarantined` or `file_unscannable` unless a file may be served. */
export const requireServable = (status: ScanStatus): void => {
  const [code, message] = refusals[status] ?? [];
  if (code !== undefined && message !== undefined) throw new HttpError(409, code, message);
};
