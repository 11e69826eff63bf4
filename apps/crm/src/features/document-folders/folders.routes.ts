import { bool, described, shape, uuid, withDefault } from '@tessera/fields';
import { type Exports, empty, type RouteTable } from '@tessera/http-kit';
import { route } from '../../http.ts';
import { recordRoutes } from '../../records/routes.ts';
import { acceptedVersions, changeProblems } from '../../records/versions.ts';
import type { DocumentService } from '../documents/documents.service.ts';
import { folderMember } from './folder-members.kind.ts';
import { trashedFolder } from './folder-trash.kind.ts';
import { documentFolder } from './folders.kind.ts';

const denied = { 403: 'The caller lacks a permission, or write access to a folder' };
const memberProblems = {
  ...denied,
  409: 'The folder, or a private folder below it, would have no member with write access. Deleted folders count while they can be restored',
};

export const folderRoutes = (
  { folders, folderMembers, folderTrash, deleteFolder, deleteTrashedFolder }: DocumentService,
  exports: Exports,
): RouteTable => {
  const routes = recordRoutes(documentFolder, folders);
  const members = recordRoutes(folderMember, folderMembers);
  return {
    listDocumentFolders: routes.list(),
    listDocumentFolderTrash: recordRoutes(trashedFolder, folderTrash).list({
      summary: 'List the trash of document folders',
      description:
        'The deleted folders that can be restored. What was deleted with a folder is restored with it, and not listed.',
    }),
    deleteTrashedDocumentFolder: route({
      method: 'delete',
      path: '/document-folders/trash/{id}',
      permission: ['document_folders.delete', 'documents.delete'],
      resource: 'document folder',
      summary: 'Delete a document folder for good',
      description:
        'Only a folder that the trash lists. It is deleted at once with everything in it, including what was deleted before it, and cannot be restored. Its files stop counting towards the quota; for a very large folder, this takes a little longer. Requires write access to the folder and to all folders in it.',
      params: shape({ id: uuid() }),
      responses: { 204: empty },
      problems: { ...denied, 404: 'The trash of the caller has no such folder' },
      handler: async ({ caller, params: { id }, reply }) => {
        await deleteTrashedFolder(caller, id);
        return reply(204);
      },
    }),
    exportDocumentFolders: routes.export({ permission: 'document_folders.export', exports }),
    createDocumentFolder: routes.create({ problems: denied }),
    getDocumentFolder: routes.get(),
    updateDocumentFolder: routes.update({
      description:
        'Another `parent_id` moves the folder, which needs write access on both sides. Fields that are left out do not change.',
      problems: memberProblems,
    }),

    deleteDocumentFolder: route({
      method: 'delete',
      path: '/document-folders/{id}',
      permission: 'document_folders.delete',
      resource: 'document folder',
      summary: 'Delete a document folder',
      description:
        'It can be restored for 30 days, with what was deleted with it, unless it is deleted for good in the trash before.',
      params: shape({ id: uuid() }),
      query: shape({
        force: described(withDefault(bool(), false), 'Whether to delete everything in it as well'),
      }),
      responses: { 204: empty },
      requestHeaders: ['If-Match'],
      problems: { ...changeProblems, ...denied, 409: 'The folder is not empty' },
      handler: async ({ caller, params: { id }, query: { force }, req, reply }) => {
        await deleteFolder(caller, id, force, acceptedVersions(req.get('If-Match')));
        return reply(204);
      },
    }),

    restoreDocumentFolder: routes.restore({
      problems: {
        ...denied,
        409: 'The folder above is deleted, or another folder in it has the name',
      },
    }),
    listDocumentFolderHistory: routes.history(),

    listDocumentFolderMembers: members.list(),
    createDocumentFolderMember: members.create({
      summary: 'Add a member to a document folder',
      description:
        'The first member makes a folder of the tenant private; whoever adds it becomes a member with write access.',
      problems: memberProblems,
    }),
    getDocumentFolderMember: members.get(),
    updateDocumentFolderMember: members.update({
      summary: 'Change the access of a member',
      problems: memberProblems,
    }),
    deleteDocumentFolderMember: members.delete({
      summary: 'Remove a member from a document folder',
      description: 'Everybody may leave. Without members, the folder belongs to the tenant again.',
      problems: memberProblems,
    }),
    listDocumentFolderMemberHistory: members.history({ summary: 'List the changes of a member' }),
  };
};
