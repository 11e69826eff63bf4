import { described, shape, time, uuid } from '@tessera/fields';
import { empty, fileBody, type RouteTable } from '@tessera/http-kit';
import { record, route } from '../../../http.ts';
import { type TusResponse, tusProtocol } from './tus.ts';
import { uploadBusy, uploadExpired } from './upload-errors.ts';
import { UPLOAD_MS, type UploadAddress, type Uploads } from './uploads.service.ts';

const Created = shape({
  id: uuid(),
  expires_at: described(time(), 'When the upload is deleted unless it is finished'),
});

/** The media type of the bytes of a PATCH. */
const PART = 'application/offset+octet-stream';

const VERSION = { 'Tus-Resumable': '1.0.0' } as const;

const missing = 'The upload does not exist, or belongs to somebody else';
const problems = {
  403: 'The caller lacks the permission, or write access to the folder',
  404: missing,
  412: '`Tus-Resumable` is not 1.0.0; the response names the supported versions in `Tus-Version`',
};

/** The lifetime of an unfinished upload in hours, for descriptions. */
const HOURS = UPLOAD_MS / 3_600_000;

/** What differs between uploads of new documents and of versions. */
interface Target {
  readonly path: string;
  readonly permission: 'documents.create' | 'documents.update';
  readonly subject: string;
  readonly metadata: string;
}

/** What the routes of uploads use. */
interface Dependencies {
  readonly uploads: Uploads;
  /** The largest file in bytes. */
  readonly maxBytes: number;
}

const routesOf = (
  { path, permission, subject, metadata }: Target,
  { uploads, maxBytes }: Dependencies,
) => {
  const exchange = tusProtocol(uploads, maxBytes);
  const isVersion = path.includes('{id}');
  const parent = isVersion ? { id: uuid() } : {};
  const one = shape({ ...parent, upload_id: uuid() });
  const documentOf = (params: object): string | null => (params as { id?: string }).id ?? null;
  const guarded = { permission, resource: 'document', headers: VERSION } as const;

  /** The response to a request for one upload, with the document once it is finished. */
  const withDocument = async (
    { headers }: TusResponse,
    address: UploadAddress,
  ): Promise<Record<string, string>> => {
    const { result_id: documentId } = await uploads.find(address);
    return documentId === null
      ? { ...headers }
      : Object.assign({}, headers, { 'Document-Id': documentId });
  };

  return {
    begin: route({
      ...guarded,
      method: 'post',
      path,
      summary: `Begin a resumable upload of ${subject}`,
      description: `Creates an upload by the tus protocol 1.0 (https://tus.io). ${metadata} The upload is deleted unless it is finished within ${HOURS} hours. A caller can have 100 unfinished uploads, and a tenant 1,000; one more is 429 \`too_many_uploads\`.`,
      params: shape(parent),
      responses: { 201: record(Created) },
      requestHeaders: ['Tus-Resumable', 'Upload-Length', 'Upload-Defer-Length', 'Upload-Metadata'],
      responseHeaders: { 201: ['Location', 'Upload-Expires'], 412: ['Tus-Version'] },
      problems: {
        ...problems,
        413: 'The file is larger than the limit, or than what the quota has left',
      },
      // An idempotency key does not cover the headers, and an unused upload expires.
      isIdempotent: false,
      handler: async ({ caller, params, req, reply }) => {
        const of = { caller, documentId: documentOf(params) };
        const header = (key: string) => req.get(key);
        const { id, headers } = await exchange({ method: 'POST', header, of });
        const { expires_at } = await uploads.find({ caller, documentId: of.documentId, id });
        const location = `${req.originalUrl.split('?', 1)[0]}/${id}`;
        return reply(201, { data: { id, expires_at } }, { ...headers, Location: location });
      },
    }),

    find: route({
      ...guarded,
      resource: 'upload',
      method: 'head',
      path: `${path}/{upload_id}`,
      summary: `Get the offset of a resumable upload of ${subject}`,
      params: one,
      responses: { 200: empty },
      requestHeaders: ['Tus-Resumable'],
      responseHeaders: {
        200: [
          'Upload-Offset',
          'Upload-Length',
          'Upload-Defer-Length',
          'Upload-Metadata',
          'Document-Id',
        ],
        412: ['Tus-Version'],
      },
      problems: {
        ...problems,
        410: { description: 'The upload has expired', error: uploadExpired },
      },
      handler: async ({ caller, params, req, reply }) => {
        const address = { caller, documentId: documentOf(params), id: params.upload_id };
        const header = (key: string) => req.get(key);
        const response = await exchange({ method: 'HEAD', header, of: address, id: address.id });
        return reply(200, await withDocument(response, address));
      },
    }),

    append: route({
      ...guarded,
      resource: 'upload',
      method: 'patch',
      path: `${path}/{upload_id}`,
      summary: `Send bytes to a resumable upload of ${subject}`,
      description:
        '`Upload-Offset` must be the number of bytes that the service has. The last bytes complete the upload, and the response names the document in `Document-Id`. If the connection breaks, the bytes that arrived before are kept. Access is checked again every five seconds: once it is lost, no more bytes are kept.',
      params: one,
      body: fileBody({ types: [PART], maxBytes, isPart: true }),
      responses: { 204: empty },
      requestHeaders: ['Tus-Resumable', 'Upload-Offset', 'Upload-Length'],
      responseHeaders: {
        204: ['Upload-Offset', 'Upload-Expires', 'Document-Id'],
        412: ['Tus-Version'],
      },
      problems: {
        ...problems,
        409: '`Upload-Offset` is not the number of bytes that the service has, or the document conflicts with another one',
        410: { description: 'The upload has expired', error: uploadExpired },
        413: 'The file is larger than announced, than the limit or than what the quota has left',
        423: { description: 'Another request is completing the upload', error: uploadBusy },
      },
      handler: async ({ caller, params, body: { content }, req, reply, confirmAccess }) => {
        const address = { caller, documentId: documentOf(params), id: params.upload_id };
        const header = (key: string) => req.get(key);
        const response = await exchange({
          method: 'PATCH',
          header,
          of: address,
          id: address.id,
          content,
          confirmAccess,
        });
        return reply(204, await withDocument(response, address));
      },
    }),

    cancel: route({
      ...guarded,
      resource: 'upload',
      method: 'delete',
      path: `${path}/{upload_id}`,
      summary: `Cancel a resumable upload of ${subject}`,
      params: one,
      responses: { 204: empty },
      requestHeaders: ['Tus-Resumable'],
      responseHeaders: { 412: ['Tus-Version'] },
      problems: { ...problems, 409: 'The upload is finished' },
      handler: async ({ caller, params, req, reply }) => {
        const address = { caller, documentId: documentOf(params), id: params.upload_id };
        const header = (key: string) => req.get(key);
        await exchange({ method: 'DELETE', header, of: address, id: address.id });
        return reply(204);
      },
    }),
  };
};

/** Resumable uploads of new documents and of versions. */
export const uploadRoutes = (dependencies: Dependencies): RouteTable => {
  const { uploads, maxBytes } = dependencies;
  const ofDocuments = routesOf(
    {
      path: '/documents/uploads',
      permission: 'documents.create',
      subject: 'a document',
      metadata:
        '`Upload-Metadata` can contain `filename` and `filetype`, and the fields of `POST /documents`: `name`, `folder_id`, `description` and `tags`.',
    },
    dependencies,
  );
  const ofVersions = routesOf(
    {
      path: '/documents/{id}/uploads',
      permission: 'documents.update',
      subject: 'a version of a document',
      metadata: '`Upload-Metadata` can contain `filename` and `filetype`.',
    },
    dependencies,
  );
  return {
    getUploadOptions: route({
      method: 'options',
      path: '/documents/uploads',
      permission: 'public',
      summary: 'Get the supported version and extensions of the tus protocol',
      responses: { 204: empty },
      headers: VERSION,
      responseHeaders: { 204: ['Tus-Version', 'Tus-Extension', 'Tus-Max-Size'] },
      handler: async ({ reply }) => {
        const request = { method: 'OPTIONS', header: () => undefined, of: undefined };
        const { headers } = await tusProtocol(uploads, maxBytes)(request);
        return reply(204, headers);
      },
    }),
    createDocumentUpload: ofDocuments.begin,
    getDocumentUpload: ofDocuments.find,
    updateDocumentUpload: ofDocuments.append,
    deleteDocumentUpload: ofDocuments.cancel,
    createVersionUpload: ofVersions.begin,
    getVersionUpload: ofVersions.find,
    updateVersionUpload: ofVersions.append,
    deleteVersionUpload: ofVersions.cancel,
  };
};
