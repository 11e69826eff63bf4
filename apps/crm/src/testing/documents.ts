import type { TestTenant } from './tenant.ts';

/** What tests send as a file. */
export interface SentDocument {
  readonly content?: string | Buffer;
  readonly name?: string;
  readonly type?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export const documentsPath = '/api/crm/documents';
export const foldersPath = '/api/crm/document-folders';

/** Uploads a document of the tenant of a test; the result is the request. */
export const documentUploader =
  ({ post }: Pick<TestTenant, 'post'>) =>
  ({
    content = 'hello',
    name = 'a.txt',
    type = 'text/plain',
    fields,
    headers,
  }: SentDocument = {}) => {
    // supertest makes the body of a form from its parts.
    const request = post(documentsPath, null, headers);
    for (const [field, value] of Object.entries(fields ?? {})) request.field(field, value);
    return request.attach('file', Buffer.from(content), { filename: name, contentType: type });
  };
