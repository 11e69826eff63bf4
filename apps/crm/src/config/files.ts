import { clamdUrl } from '@tessera/clamd';
import {
  bool,
  described,
  int,
  matching,
  type OutOf,
  oneOf,
  optional,
  rawText,
  url,
  withDefault,
} from '@tessera/fields';
import type { S3Options } from '@tessera/file-store';

export const fileVariables = {
  FILE_STORE: described(
    withDefault(oneOf('folder', 's3'), 'folder'),
    'Where files are kept: `folder` (FILE_STORE_PATH) or `s3` (FILE_STORE_S3_BUCKET). Files are encrypted if KEY_ENCRYPTION_KEYS is set.',
  ),
  FILE_STORE_PATH: described(
    withDefault(rawText(1000), 'files'),
    'The folder in which files are kept, relative to the working directory. All instances of CRM must share it.',
  ),
  FILE_STORE_S3_BUCKET: described(
    optional(matching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'the name of a bucket', 63)),
    'The bucket in which files are kept; required with `FILE_STORE=s3`. It must exist.',
  ),
  FILE_STORE_S3_REGION: described(
    withDefault(matching(/^[a-z0-9-]+$/, 'a region such as eu-central-1', 50), 'us-east-1'),
    'The region of the bucket.',
  ),
  FILE_STORE_S3_ENDPOINT: described(
    optional(url(500)),
    'The URL of an S3-compatible service. Defaults to AWS.',
  ),
  FILE_STORE_S3_FORCE_PATH_STYLE: described(
    withDefault(bool(), false),
    'Whether the bucket is part of the path instead of the host name, which many services other than AWS need.',
  ),
  FILE_STORE_S3_PREFIX: described(
    optional(
      matching(/^(?:[A-Za-z0-9_.-]+\/)+$/, 'a path that ends with /, such as tessera/', 200),
    ),
    'A prefix of the keys of all objects, so that other applications can use the same bucket.',
  ),
  FILE_STORE_S3_ACCESS_KEY_ID: described(
    optional(rawText(200)),
    'The access key, with FILE_STORE_S3_SECRET_ACCESS_KEY. Without both, the AWS SDK looks for credentials: `AWS_*` variables, a profile, or the role of the machine.',
  ),
  FILE_STORE_S3_SECRET_ACCESS_KEY: described(
    optional(rawText(500)),
    'The secret of FILE_STORE_S3_ACCESS_KEY_ID.',
  ),
  FILE_STORE_S3_TIMEOUT_MS: described(
    withDefault(int(1, 600_000), 10_000),
    'Timeout of a request to the bucket in milliseconds, including the time to send up to 8 MiB. A request is tried twice.',
  ),
  FILE_MAX_BYTES: described(
    withDefault(int(1, Number.MAX_SAFE_INTEGER), 5 * 1024 ** 3),
    'The largest file that can be uploaded, in bytes.',
  ),
  UPLOADS_PER_CALLER: described(
    withDefault(int(1, 10_000), 10),
    'Maximum number of files that one caller may upload at the same time to one instance.',
  ),
  UPLOADS_PER_TENANT: described(
    withDefault(int(1, 10_000), 50),
    'Maximum number of files that all callers of a tenant may upload at the same time to one instance.',
  ),
  UPLOADS_PER_INSTANCE: described(
    withDefault(int(1, 100_000), 200),
    'Maximum number of files that one instance receives at the same time.',
  ),
  FILE_QUOTA_BYTES: described(
    optional(int(0, Number.MAX_SAFE_INTEGER)),
    'The quota of files of each tenant that has none of its own, in bytes. Identical files count for each document version and message that has them. Without it, there is no limit.',
  ),
  CLAMD_URL: described(
    optional(clamdUrl()),
    'The address of clamd (ClamAV): `tcp://host:port`, or `unix:` followed by the path of its socket. Uploaded files are then not served until clamd has found no malware in them. Without it, files are not scanned.',
  ),
} as const;

type Read = OutOf<typeof fileVariables>;

const credentialsOf = (read: Read): S3Options['credentials'] => {
  const accessKeyId = read.FILE_STORE_S3_ACCESS_KEY_ID;
  const secretAccessKey = read.FILE_STORE_S3_SECRET_ACCESS_KEY;
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    return { accessKeyId, secretAccessKey };
  }
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
  throw new Error(
    'The configuration needs FILE_STORE_S3_ACCESS_KEY_ID and FILE_STORE_S3_SECRET_ACCESS_KEY, or neither.',
  );
};

const s3Of = (read: Read): S3Options | undefined => {
  if (read.FILE_STORE !== 's3') return undefined;
  const bucket = read.FILE_STORE_S3_BUCKET;
  if (bucket === undefined) {
    throw new Error('The configuration lacks FILE_STORE_S3_BUCKET, which FILE_STORE=s3 needs.');
  }
  return {
    bucket,
    region: read.FILE_STORE_S3_REGION,
    endpoint: read.FILE_STORE_S3_ENDPOINT,
    forcePathStyle: read.FILE_STORE_S3_FORCE_PATH_STYLE,
    prefix: read.FILE_STORE_S3_PREFIX,
    credentials: credentialsOf(read),
    maxBytes: read.FILE_MAX_BYTES,
    timeoutMs: read.FILE_STORE_S3_TIMEOUT_MS,
  };
};

/** Throws if the settings of S3 are incomplete. `s3` is undefined if files are kept in the folder `path`. */
export const fileSettings = (read: Read) => ({
  files: {
    path: read.FILE_STORE_PATH,
    s3: s3Of(read),
    maxBytes: read.FILE_MAX_BYTES,
    defaultQuota: read.FILE_QUOTA_BYTES,
    clamdUrl: read.CLAMD_URL,
    /** Uploads at the same time, in this process. */
    uploads: {
      perCaller: read.UPLOADS_PER_CALLER,
      perTenant: read.UPLOADS_PER_TENANT,
      perInstance: read.UPLOADS_PER_INSTANCE,
    },
  },
});
