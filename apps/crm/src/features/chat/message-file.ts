import type { ScanStatus } from '../../files/scan-status.ts';
import { hidden } from '../../records/row.ts';

/** The columns of a message's file; all of them are null without one. */
export const fileColumns = {
  file_content_id: hidden<string | null>(),
  file_name: hidden<string | null>(),
  file_size: hidden<number | null>(),
  file_type: hidden<string | null>(),
  file_sha256: hidden<string | null>(),
} as const;

/** The values of these columns. */
export interface FileColumns {
  readonly file_content_id: string | null;
  readonly file_name: string | null;
  readonly file_size: number | null;
  readonly file_type: string | null;
  readonly file_sha256: string | null;
}

/** The values of a message without a file. */
export const noFile: FileColumns = {
  file_content_id: null,
  file_name: null,
  file_size: null,
  file_type: null,
  file_sha256: null,
};

/** A file as responses with its message contain it. */
export interface PresentedFile {
  readonly name: string;
  readonly size: number;
  readonly type: string;
  readonly scan_status: ScanStatus;
}

/** The file of a message, with the status `not_scanned`: `withScanStatus` sets that of its content. */
export const presentFile = (
  row: Pick<FileColumns, 'file_name' | 'file_size' | 'file_type'>,
): PresentedFile | null => {
  const { file_name: name, file_size: size, file_type: type } = row;
  return name === null || size === null || type === null
    ? null
    : { name, size, type, scan_status: 'not_scanned' };
};
