import { HttpError, invalidField, notFound, type ServedFile } from '@tessera/http-kit';
import { clientNotConfigured } from '@tessera/resource-server';
import type { RightsSource } from '../../absent-callers/current-rights.ts';
import type { Database } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { type Following, followLink } from '../../records/expiring-links.ts';
import type { AnswerOf } from '../../records/kind.ts';
import { tokenFormat, withNewToken } from '../../records/record-tokens.ts';
import { createRecords, type Versioned } from '../../records/records.ts';
import type { DocumentService } from '../documents/documents.service.ts';
import { type DocumentLinks, documentLink } from './links.kind.ts';
import { deleteExpiredLinks, type FoundLink, findLink } from './links.repository.ts';

/** A new link, and the token by which it is served. */
export interface CreatedLink extends Versioned<AnswerOf<typeof documentLink>> {
  readonly token: string;
}

/** Expiring links to documents. */
export interface LinkService {
  readonly links: DocumentLinks;
  /**
   * Creates a link to a document. Throws 403 for callers who are not users, 422 for an invalid expiry or version, and
   * 503 if CRM has no client at identity.
   */
  create(
    caller: Caller,
    documentId: string,
    input: {
      readonly expires_at?: Date | undefined;
      readonly version_number?: number | null | undefined;
    },
  ): Promise<CreatedLink>;
  /**
   * The file of a link. Throws the same 404 for wrong tokens, expired and deleted links, and links whose creator lost
   * access; 409 while the file is being scanned or if it cannot be; and 503 if it is unknown whether the creator still
   * has access.
   */
  open(token: string): Promise<ServedFile>;
}

/** What `createLinks` needs. */
interface Dependencies {
  readonly database: Database;
  readonly documents: Pick<DocumentService, 'download' | 'versions'>;
  readonly access: RightsSource;
}

/** The tokens in the addresses of links. */
const linkTokens = tokenFormat('tcl');

const noLink = (): HttpError => notFound('The link');

/** Whether an error of the download means that the link no longer works: 404. */
const hasEnded = (error: unknown): boolean =>
  error instanceof HttpError && (error.status === 404 || error.code === 'file_quarantined');

export const createLinks = ({ database, documents, access }: Dependencies): LinkService => {
  const links = createRecords(documentLink, database);
  const following: Following<FoundLink> = {
    access,
    tokens: linkTokens,
    permission: 'documents.view',
    find: ({ tenantId, id }) => findLink(database.forTenant(tenantId), id),
  };

  const requireVersion = async (caller: Caller, id: string, number: number): Promise<void> => {
    const versions = documents.versions.within(id);
    await versions.get(caller, `${number}`).catch((error: unknown) => {
      if (!(error instanceof HttpError) || error.status !== 404) throw error;
      throw invalidField('version_number', 'version_number is not a version of the document');
    });
  };

  return {
    links,

    async create(caller, documentId, { expires_at, version_number = null }) {
      if (!access.canAskRights) throw clientNotConfigured();
      const below = links.within(documentId);
      if (version_number !== null) {
        // 404 for a document that the caller does not see, before its version is checked.
        await below.list(caller, { per_page: 1 });
        await requireVersion(caller, documentId, version_number);
      }
      await deleteExpiredLinks(database.forTenant(caller.tenantId), documentId);
      return withNewToken(linkTokens, caller.tenantId, (secret) =>
        below.create(caller, { expires_at, version_number, secret }),
      );
    },

    async open(given) {
      const followed = await followLink(following, given);
      if (!followed) throw noLink();
      const { link, caller } = followed;
      const number = link.version_number ?? undefined;
      return documents
        .download(caller, link.document_id, number, 'public')
        .catch((error: unknown) => {
          throw hasEnded(error) ? noLink() : error;
        });
    },
  };
};
