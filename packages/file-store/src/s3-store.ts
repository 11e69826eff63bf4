import { Readable } from 'node:stream';
import type { GetObjectCommandOutput, S3Client } from '@aws-sdk/client-s3';
import { sealedSize } from './encryption.ts';
import {
  type ByteRange,
  type ObjectId,
  ObjectMissing,
  type ObjectPage,
  type ObjectStore,
  ObjectTruncated,
  objectAt,
  objectPath,
  type StoredObject,
  StoreFull,
} from './object-store.ts';

export interface S3Options {
  readonly bucket: string;
  /** The URL of the service; undefined for AWS. */
  readonly endpoint?: string | undefined;
  readonly region: string;
  /** A prefix of all keys, such as `tessera/`. */
  readonly prefix?: string | undefined;
  /** Whether the bucket is part of the path instead of the host name. */
  readonly forcePathStyle?: boolean | undefined;
  /** Without it, the SDK looks for credentials in its usual places: environment, profile, role of the machine. */
  readonly credentials?:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined;
  /** The largest file in bytes; must be set if files may have more than 80 GB. */
  readonly maxBytes?: number | undefined;
  /** How long the service may take to answer a request, in milliseconds; default ten seconds. It is tried twice. */
  readonly timeoutMs?: number | undefined;
}

/** Parts of an upload that are sent at once, and the bytes of each: S3 takes at most 10,000 parts. */
const PARTS_AT_ONCE = 1;
const PART_BYTES = 8 * 1024 * 1024;
const MAX_PARTS = 10_000;

const CONNECT_MS = 5000;
const DEFAULT_TIMEOUT_MS = 10_000;
/** Callers wait for each attempt, so there are few. */
const ATTEMPTS = 2;

/** Loads the SDK, which takes a moment, when it is needed. */
const loadSdk = async () => {
  const [s3, storage] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/lib-storage'),
  ]);
  return { ...s3, Upload: storage.Upload };
};

const createClient = (
  Client: typeof S3Client,
  { endpoint, region, forcePathStyle, credentials, timeoutMs = DEFAULT_TIMEOUT_MS }: S3Options,
): S3Client => {
  // Each download holds a connection for as long as its reader takes.
  const agent = { maxSockets: Number.POSITIVE_INFINITY, keepAlive: true };
  return new Client({
    region,
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials !== undefined && { credentials }),
    forcePathStyle: forcePathStyle ?? false,
    maxAttempts: ATTEMPTS,
    // Not every service supports the checksums that the SDK adds; TLS and the encryption of files protect the bytes.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: timeoutMs,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
};

const statusOf = (error: unknown): unknown =>
  (error as { readonly $metadata?: { readonly httpStatusCode?: unknown } }).$metadata
    ?.httpStatusCode;

/** How often the SDK has sent a request that failed. */
const attemptsOf = (error: unknown): number =>
  (error as { readonly $metadata?: { readonly attempts?: number } }).$metadata?.attempts ?? 1;

const isMissing = (error: unknown): boolean =>
  statusOf(error) === 404 && (error as { readonly name?: unknown }).name !== 'NoSuchBucket';

/**
 * A store in a bucket of S3, or of a service that speaks its protocol. An object is sent in parts and appears when the
 * last one has arrived. The service must support conditional writes (`If-None-Match: *`).
 */
export const createS3Store = (options: S3Options): ObjectStore => {
  const { bucket: Bucket, prefix = '', maxBytes = 0 } = options;
  const partSize = Math.max(PART_BYTES, Math.ceil(sealedSize(maxBytes) / MAX_PARTS));
  let connected: Promise<Awaited<ReturnType<typeof loadSdk>> & { client: S3Client }> | undefined;
  const connect = () => {
    connected ??= loadSdk().then((sdk) => ({
      ...sdk,
      client: createClient(sdk.S3Client, options),
    }));
    return connected;
  };

  const keyOf = (object: ObjectId): string => `${prefix}${objectPath(object).join('/')}`;

  /** The object with this key; undefined if it is another file. */
  const objectOf = (key = ''): ObjectId | undefined =>
    key.startsWith(prefix) ? objectAt(key.slice(prefix.length).split('/')) : undefined;

  const get = async (key: string, range?: ByteRange): Promise<GetObjectCommandOutput> => {
    const { client, GetObjectCommand } = await connect();
    const Range = range && `bytes=${range.start}-${range.end}`;
    return client.send(new GetObjectCommand({ Bucket, Key: key, Range }));
  };

  /**
   * Whether a write failed because the SDK repeated it, and the first attempt, whose response was lost, had stored the object:
   * each id is written once.
   */
  const isOwnObject = async (Key: string, error: unknown, bytes: number): Promise<boolean> => {
    const isTaken = [404, 412].includes(Number(statusOf(error)));
    if (!isTaken || attemptsOf(error) < 2) return false;
    const { client, HeadObjectCommand } = await connect();
    const found = await client.send(new HeadObjectCommand({ Bucket, Key })).catch(() => undefined);
    return found?.ContentLength === bytes;
  };

  const requireExisting = async (): Promise<void> => {
    const { client, HeadBucketCommand } = await connect();
    await client.send(new HeadBucketCommand({ Bucket }));
  };

  return {
    prepare: requireExisting,
    requireExisting,

    async write(object, content) {
      const Key = keyOf(object);
      const { client, Upload } = await connect();
      let sentBytes = 0;
      let ofContent: { readonly error: unknown } | undefined;
      const counted = async function* () {
        try {
          for await (const piece of content) {
            sentBytes += piece.byteLength;
            yield piece;
          }
        } catch (error) {
          ofContent = { error };
          throw error;
        }
      };
      const Body = Readable.from(counted(), { objectMode: false });
      const upload = new Upload({
        client,
        params: { Bucket, Key, Body, IfNoneMatch: '*' },
        queueSize: PARTS_AT_ONCE,
        partSize,
      });
      try {
        await upload.done();
      } catch (error) {
        // The upload fails with another error if the service refuses to abort it.
        if (ofContent) throw ofContent.error;
        if (await isOwnObject(Key, error, sentBytes)) return;
        throw statusOf(error) === 507 ? new StoreFull(error) : error;
      } finally {
        Body.destroy();
      }
    },

    async read(object, range) {
      const key = keyOf(object);
      try {
        const { Body, ContentLength } = await get(key, range);
        if (!(Body instanceof Readable)) throw new Error('The file store has sent no content.');
        if (!range || ContentLength === range.end - range.start + 1) return Body;
        Body.destroy();
        throw new ObjectTruncated(object);
      } catch (error) {
        // The range begins after the end.
        if (statusOf(error) === 416) throw new ObjectTruncated(object);
        throw isMissing(error) ? new ObjectMissing(object) : error;
      }
    },

    async head(object) {
      const Key = keyOf(object);
      const { client, HeadObjectCommand } = await connect();
      try {
        const found = await client.send(new HeadObjectCommand({ Bucket, Key }));
        const { tenantId, id } = object;
        const { ContentLength: size = 0, LastModified: storedAt = new Date() } = found;
        return { tenantId, id, size, storedAt };
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },

    async delete(object) {
      const Key = keyOf(object);
      const sdk = await connect();
      const { client, ListMultipartUploadsCommand, AbortMultipartUploadCommand } = sdk;
      const interrupted = await client.send(
        new ListMultipartUploadsCommand({ Bucket, Prefix: Key }),
      );
      for (const { UploadId } of interrupted.Uploads ?? []) {
        await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
      }
      await client.send(new sdk.DeleteObjectCommand({ Bucket, Key }));
    },

    async list({ after, limit }) {
      const { client, ListObjectsV2Command } = await connect();
      const page = await client.send(
        new ListObjectsV2Command({
          Bucket,
          Prefix: prefix,
          StartAfter: after === undefined ? undefined : `${prefix}${after}`,
          MaxKeys: limit,
        }),
      );
      const found = page.Contents ?? [];
      const objects = found.flatMap(({ Key, Size: size = 0, LastModified }): StoredObject[] => {
        const object = objectOf(Key);
        if (!object) return [];
        const { tenantId, id } = object;
        return [{ tenantId, id, size, storedAt: LastModified ?? new Date() }];
      });
      return {
        objects,
        next: page.IsTruncated ? found.at(-1)?.Key?.slice(prefix.length) : undefined,
      };
    },

    async listUnfinished({ after, limit }): Promise<ObjectPage> {
      const { client, ListMultipartUploadsCommand } = await connect();
      const [KeyMarker, UploadIdMarker] = after === undefined ? [] : after.split(' ');
      const page = await client.send(
        new ListMultipartUploadsCommand({
          Bucket,
          Prefix: prefix,
          KeyMarker,
          UploadIdMarker,
          MaxUploads: limit,
        }),
      );
      const objects = (page.Uploads ?? []).flatMap(({ Key, Initiated }): StoredObject[] => {
        const object = objectOf(Key);
        if (!object) return [];
        const { tenantId, id } = object;
        return [{ tenantId, id, size: 0, storedAt: Initiated ?? new Date() }];
      });
      const next = `${page.NextKeyMarker ?? ''} ${page.NextUploadIdMarker ?? ''}`;
      return { objects, next: page.IsTruncated ? next : undefined };
    },
  };
};
