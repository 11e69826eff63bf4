import { described, list, nullable, shape, uuid, withDefault } from '@tessera/fields';
import {
  type Exports,
  empty,
  fileBody,
  fileResponse,
  type RouteTable,
  whileFound,
} from '@tessera/http-kit';
import { record, route } from '../../http.ts';
import { hiddenSince, visibleReplay } from '../../records/replays.ts';
import { createFrame } from '../../records/route-frame.ts';
import { recordRoutes } from '../../records/routes.ts';
import { acceptedVersions, changeProblems, tagged } from '../../records/versions.ts';
import { viewable, viewableText } from '../../records/viewing.ts';
import { documentFolder } from '../document-folders/folders.kind.ts';
import { DocumentForm, newDocument } from './document-form.ts';
import { trashedDocument } from './document-trash.kind.ts';
import { document } from './documents.kind.ts';
import type { DocumentService } from './documents.service.ts';
import { documentVersion } from './versions.kind.ts';

const ids = (description: string) =>
  described(withDefault(list(uuid(), { max: 100 }), []), description);

const MoveInput = shape({
  document_ids: ids('The documents to move'),
  folder_ids: ids('The folders to move, with everything in them'),
  folder_id: described(nullable(uuid()), 'Where to; null is the root.'),
});

const Moved = shape({
  documents: list(viewable(document, document.answer)),
  folders: list(viewable(documentFolder, documentFolder.answer)),
});

const one = shape({ id: uuid() });
const oneVersion = shape({ id: uuid(), number: documentVersion.keyField });

const denied = {
  403: 'The caller lacks a permission, or write access to a folder. The cover of something that is published or scheduled requires the permission to publish that as well.',
};
const uploadProblems = {
  ...changeProblems,
  ...denied,
  413: 'The file is larger than the limit, or than what the quota has left',
  507: 'The file store is full',
};
const downloadProblems = {
  409: 'The file is being scanned (`scan_pending`), contains malware (`file_quarantined`) or exceeds a limit of the scanner (`file_unscannable`)',
};

/** Any type of file can be uploaded; it is never shown by the service. */
const ANY = ['*/*'] as const;

/** What the routes of documents use. */
interface Dependencies {
  readonly service: DocumentService;
  readonly exports: Exports;
  /** The largest file in bytes. */
  readonly maxBytes: number;
}

export const documentRoutes = ({ service, exports, maxBytes }: Dependencies): RouteTable => {
  const routes = recordRoutes(document, service.documents);
  const versions = recordRoutes(documentVersion, service.versions);
  const frame = createFrame(document, service.documents);
  return {
    listDocuments: routes.list(),
    listDocumentTrash: recordRoutes(trashedDocument, service.trash).list({
      summary: 'List the trash of documents',
      description:
        'The deleted documents that can be restored, in folders that the caller sees. What was deleted with a folder is restored with it, and not listed.',
    }),
    deleteTrashedDocument: route({
      method: 'delete',
      path: '/documents/trash/{id}',
      permission: 'documents.delete',
      resource: 'document',
      summary: 'Delete a document for good',
      description:
        'Only a document that the trash lists. It is deleted at once with its versions and links, cannot be restored, and no longer counts towards the quota. Needs write access to the folder that it was in.',
      params: one,
      responses: { 204: empty },
      problems: { ...denied, 404: 'The trash of the caller has no such document' },
      handler: async ({ caller, params: { id }, reply }) => {
        await service.deleteTrashed(caller, id);
        return reply(204);
      },
    }),
    exportDocuments: routes.export({ permission: 'documents.export', exports }),

    createDocument: route({
      ...frame.onAll('create'),
      permission: 'documents.create',
      method: 'post',
      summary: 'Upload a document',
      body: fileBody({ types: ANY, maxBytes, fields: DocumentForm }),
      responses: { 201: record(document.answer) },
      responseHeaders: { 201: ['ETag', 'Location'] },
      problems: { ...uploadProblems, ...hiddenSince },
      isIdempotent: true,
      handler: async ({ caller, body, req, reply, commitUpload }) => {
        const { content, type, name, announcedSize, fields } = body;
        const sent = { content, type, announcedSize };
        return service.create(caller, newDocument(fields, name), sent, (save, discard) =>
          commitUpload(async () => {
            const created = await save();
            const location = `${req.originalUrl.split('?', 1)[0]}/${created.id}`;
            return reply(201, { data: created.answer }, { ...tagged(created), Location: location });
          }, discard),
        );
      },
      authorizeReplay: visibleReplay(document, () => service.documents),
    }),

    moveDocuments: route({
      method: 'post',
      path: '/documents/move',
      permission: 'documents.update',
      resource: 'document',
      summary: 'Move documents and folders',
      description:
        'Moves all of them or none. Needs write access to the folders that they are in and to the one that they move to; moving folders also needs `document_folders.update`. Without `documents.view` or `document_folders.view`, the response has only the `id` and the `version` of each.',
      body: MoveInput,
      responses: { 200: record(Moved) },
      problems: { ...denied, 409: 'A private folder would have no member with write access' },
      handler: async ({ caller, body, reply }) =>
        reply(200, { data: await service.move(caller, body) }),
    }),

    getDocument: routes.get(),
    updateDocument: routes.update({ problems: denied }),
    deleteDocument: routes.delete({
      description:
        'It can be restored for 30 days, unless it is deleted for good in the trash before.',
      problems: denied,
    }),
    restoreDocument: routes.restore({
      problems: { ...denied, 409: 'The folder of the document is deleted' },
    }),
    listDocumentHistory: routes.history(),

    replaceDocumentContent: route({
      method: 'put',
      path: '/documents/{id}/content',
      permission: 'documents.update',
      resource: 'document',
      summary: 'Replace the content of a document',
      description: `The body is the file. The former content stays as a version. ${viewableText(document)}`,
      params: one,
      body: fileBody({ types: ANY, maxBytes }),
      responses: { 200: record(viewable(document, document.answer)) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: uploadProblems,
      isIdempotent: true,
      handler: async ({ caller, params: { id }, body, req, reply, commitUpload }) => {
        const change = { id, versions: acceptedVersions(req.get('If-Match')) };
        const { content, type, announcedSize } = body;
        const sent = { content, type, announcedSize };
        return service.addVersion(caller, change, sent, (save, discard) =>
          commitUpload(async () => {
            const changed = await save();
            return reply(200, { data: changed.answer }, tagged(changed));
          }, discard),
        );
      },
      authorizeReplay: visibleReplay(document, () => service.documents),
    }),

    listDocumentVersions: versions.list(),

    createDocumentVersion: route({
      method: 'post',
      path: '/documents/{id}/versions',
      permission: 'documents.update',
      resource: 'document',
      summary: 'Upload a version of a document',
      description: 'It becomes the current one.',
      params: one,
      body: fileBody({ types: ANY, maxBytes, fields: shape({}) }),
      responses: { 201: record(documentVersion.answer) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 201: ['ETag', 'Location'] },
      problems: uploadProblems,
      isIdempotent: true,
      handler: async ({ caller, params: { id }, body, req, reply, commitUpload }) => {
        const change = { id, versions: acceptedVersions(req.get('If-Match')) };
        const { content, type, announcedSize } = body;
        const sent = { content, type, announcedSize };
        return service.addVersion(caller, change, sent, (save, discard) =>
          commitUpload(async () => {
            const { number } = await save();
            const added = await service.versions.within(id).get(caller, `${number}`);
            const location = `${req.originalUrl.split('?', 1)[0]}/${number}`;
            return reply(201, { data: added.answer }, { ...tagged(added), Location: location });
          }, discard),
        );
      },
      authorizeReplay: visibleReplay(documentVersion, ({ id = '' }) => service.versions.within(id)),
    }),

    getDocumentVersion: versions.get(),

    deleteDocumentVersion: route({
      method: 'delete',
      path: '/documents/{id}/versions/{number}',
      permission: 'documents.delete',
      resource: 'version',
      summary: 'Delete a version of a document',
      description:
        'A version that is not the current one is deleted for good, and no longer counts towards the quota. The other versions keep their numbers.',
      params: oneVersion,
      responses: { 204: empty },
      requestHeaders: ['If-Match'],
      problems: {
        ...changeProblems,
        ...denied,
        409: 'It is the current version, or a link serves it',
      },
      handler: async ({ caller, params: { id, number }, req, reply }) => {
        const accepted = acceptedVersions(req.get('If-Match'));
        await service.deleteVersion(caller, id, number, accepted);
        return reply(204);
      },
    }),

    restoreDocumentVersion: route({
      method: 'post',
      path: '/documents/{id}/versions/{number}/restore',
      permission: 'documents.update',
      resource: 'version',
      summary: 'Restore a version of a document',
      description: `Its content becomes a new version, which is the current one. ${viewableText(document)}`,
      params: oneVersion,
      responses: { 200: record(viewable(document, document.answer)) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: {
        ...changeProblems,
        ...denied,
        413: 'The quota has no room: each version counts towards it, also with the same content',
      },
      handler: async ({ caller, params: { id, number }, req, reply }) => {
        const accepted = acceptedVersions(req.get('If-Match'));
        const changed = await service.restoreVersion(caller, id, Number(number), accepted);
        return reply(200, { data: changed.answer }, tagged(changed));
      },
    }),

    downloadDocument: route({
      method: 'get',
      path: '/documents/{id}/download',
      permission: 'documents.view',
      resource: 'document',
      summary: 'Download a document',
      params: one,
      responses: { 200: fileResponse(...ANY) },
      problems: downloadProblems,
      handler: async ({ caller, params: { id }, reply }) =>
        reply(200, await whileFound(() => service.download(caller, id))),
    }),

    getDocumentThumbnail: route({
      method: 'get',
      path: '/documents/{id}/thumbnail',
      permission: 'documents.view',
      resource: 'document',
      summary: 'Get a thumbnail of a document',
      description:
        'A WebP of at most 512 pixels a side, for PNG, JPEG, WebP, GIF and AVIF images. It is made shortly after the upload; until then, and for all other files, the response is 404.',
      params: one,
      responses: { 200: fileResponse('image/webp') },
      problems: { ...downloadProblems, 404: 'There is no such document, or it has no thumbnail' },
      handler: async ({ caller, params: { id }, reply }) =>
        reply(200, await whileFound(() => service.thumbnail(caller, id))),
    }),

    downloadDocumentVersion: route({
      method: 'get',
      path: '/documents/{id}/versions/{number}/download',
      permission: 'documents.view',
      resource: 'version',
      summary: 'Download a version of a document',
      params: oneVersion,
      responses: { 200: fileResponse(...ANY) },
      problems: downloadProblems,
      handler: async ({ caller, params: { id, number }, reply }) =>
        reply(200, await whileFound(() => service.download(caller, id, Number(number)))),
    }),
  };
};
