import { Readable } from 'node:stream';
import { HttpError, invalidField, notFound, validationFailed } from '@tessera/http-kit';
import { DataStore, type Locker, Server, Upload } from '@tus/server';
import { offsetConflict, uploadExpired } from './upload-errors.ts';
import {
  newUploadId,
  UPLOAD_MS,
  type UploadAddress,
  type UploadBody,
  type Uploads,
} from './uploads.service.ts';

/** The headers of the protocol that clients send. */
const READ = [
  'tus-resumable',
  'upload-length',
  'upload-defer-length',
  'upload-metadata',
  'upload-offset',
  'upload-concat',
  'content-type',
  'content-length',
];

/** The headers of the protocol that the service sends. */
const SENT = [
  'Tus-Version',
  'Tus-Extension',
  'Tus-Max-Size',
  'Upload-Length',
  'Upload-Defer-Length',
  'Upload-Metadata',
  'Upload-Offset',
  'Upload-Expires',
] as const;

/** Uploads need no lock: a part is added only at the end of the upload, so one of two simultaneous requests is 409. */
const withoutLocks: Locker = {
  newLock: () => ({ lock: async () => undefined, unlock: async () => undefined }),
};

/** The extensions of the protocol that the service supports. */
class SupportedStore extends DataStore {
  override extensions = ['creation', 'creation-defer-length', 'expiration', 'termination'];
}

/** The store that the library uses for one request. */
class UploadStore extends SupportedStore {
  readonly #uploads: Uploads;
  readonly #of: Omit<UploadAddress, 'id'>;
  readonly #confirmAccess: UploadBody['confirmAccess'];

  constructor(
    uploads: Uploads,
    of: Omit<UploadAddress, 'id'>,
    confirmAccess: UploadBody['confirmAccess'],
  ) {
    super();
    this.#confirmAccess = confirmAccess;
    this.#uploads = uploads;
    this.#of = of;
  }

  #address(id: string): UploadAddress {
    const { caller, documentId } = this.#of;
    return { caller, documentId, id };
  }

  override async create(upload: Upload): Promise<Upload> {
    const metadata = Object.fromEntries(
      Object.entries(upload.metadata ?? {}).map(([name, value]) => [
        name,
        // PostgreSQL cannot store NUL.
        value?.replaceAll('\0', '') ?? null,
      ]),
    );
    const { caller, documentId } = this.#of;
    const { id, size = null } = upload;
    await this.#uploads.create({ caller, documentId, id, metadata, size });
    return upload;
  }

  override async getUpload(id: string): Promise<Upload> {
    const found = await this.#uploads.find(this.#address(id));
    const { received, size, metadata, expires_at, ended_at } = found;
    // The library takes an upload that has all bytes for finished. Without a size, a client can complete it by
    // declaring the size again.
    const isKnown = size !== null && (received < size || ended_at !== null);
    return new Upload({
      id,
      ...(isKnown && { size }),
      offset: received,
      metadata: { ...metadata },
      creation_date: new Date(expires_at.getTime() - UPLOAD_MS).toISOString(),
    });
  }

  override async write(body: Readable, id: string, offset: number): Promise<number> {
    const confirmAccess = this.#confirmAccess;
    return this.#uploads.append(this.#address(id), offset, { content: body, confirmAccess });
  }

  override async declareUploadLength(id: string, size: number): Promise<void> {
    await this.#uploads.declareSize(this.#address(id), size);
  }

  override async remove(id: string): Promise<void> {
    await this.#uploads.remove(this.#address(id));
  }

  override getExpiration(): number {
    return UPLOAD_MS;
  }
}

/** A request of the protocol. */
export interface TusRequest {
  readonly method: string;
  readonly header: (name: string) => string | undefined;
  /** The caller and the document; undefined for OPTIONS. */
  readonly of: Omit<UploadAddress, 'id'> | undefined;
  /** The upload; undefined for the creation and OPTIONS. */
  readonly id?: string;
  /** The body of a PATCH. */
  readonly content?: Readable;
  /** Throws if the caller of a PATCH has lost access. */
  readonly confirmAccess?: () => Promise<void>;
}

/** The response to a request of the protocol. */
export interface TusResponse {
  /** The id of the upload. */
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The error for a response of the library that is not a success. */
const errorOf = (status: number, text: string, maxBytes: number): HttpError => {
  const message = text.trim();
  if (status === 404) return notFound('The upload');
  if (status === 409) return offsetConflict();
  if (status === 410) return uploadExpired();
  const named = /^Invalid (?<names>[a-z -]+)$/.exec(message)?.groups?.names?.split(' ');
  if (status === 412 || named?.includes('tus-resumable')) {
    return new HttpError(412, 'precondition_failed', 'The header Tus-Resumable must be 1.0.0.', {
      headers: { 'Tus-Version': '1.0.0' },
    });
  }
  if (status === 413) {
    return new HttpError(
      413,
      'body_too_large',
      `The file is larger than Upload-Length or ${maxBytes} bytes.`,
      {
        details: { max_bytes: maxBytes },
      },
    );
  }
  if (named) {
    return validationFailed(
      Object.fromEntries(named.map((name) => [name, [`${name} is invalid`]])),
    );
  }
  const [, header = 'Upload-Length'] = /((?:Upload|Content)-\w+)/.exec(message) ?? [];
  return invalidField(header, message);
};

/**
 * Answers requests of the tus protocol 1.0 with `@tus/server`. Throws an `HttpError` where the library responds with an
 * error.
 */
export const tusProtocol =
  (uploads: Uploads, maxBytes: number) =>
  async ({
    method,
    header,
    of,
    id = newUploadId(),
    content,
    confirmAccess = async () => undefined,
  }: TusRequest): Promise<TusResponse> => {
    let failure: unknown;
    const server = new Server({
      path: '/uploads',
      datastore: of ? new UploadStore(uploads, of, confirmAccess) : new SupportedStore(),
      locker: withoutLocks,
      maxSize: maxBytes,
      namingFunction: () => id,
      generateUrl: () => id,
      getFileIdFromRequest: () => id,
      onResponseError: (_req, error) => {
        failure = error;
        return undefined;
      },
    });
    const headers = new Headers();
    for (const name of READ) {
      const value = header(name);
      if (value !== undefined) headers.set(name, value);
    }
    // A client that continues repeats the size that it has declared, which the library rejects.
    const declared = headers.get('upload-length');
    if (method === 'PATCH' && of && declared !== null) {
      const { size } = await uploads.find({ caller: of.caller, documentId: of.documentId, id });
      if (declared === `${size}`) headers.delete('upload-length');
    }
    const body = content && {
      body: Readable.toWeb(content) as ReadableStream,
      duplex: 'half' as const,
    };
    const request = new Request(`http://localhost/uploads/${id}`, { method, headers, ...body });
    const response = await server.handleWeb(request);
    // The library has one error for every body that fails.
    if (!response.ok && content?.errored) throw content.errored;
    // Errors of the library have the status of its response.
    if (failure instanceof Error && !('status_code' in failure)) throw failure;
    if (!response.ok) throw errorOf(response.status, await response.text(), maxBytes);
    const sent = SENT.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    return { id, headers: Object.fromEntries(sent) };
  };
