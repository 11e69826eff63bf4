import { until } from '@tessera/local-stack';
import type { TestTenant } from './tenant.ts';

/** An import that has ended. */
export type EndedImport = Readonly<Record<string, unknown>> & { readonly id: string };

interface ImportingFiles {
  /** Waits for the end of an import. */
  ended(id: string): Promise<EndedImport>;
  /** Sends a CSV file of contacts, unless `resource` is another one, and waits for the end of its import. */
  importFile(file: string, fields?: Readonly<Record<string, string>>): Promise<EndedImport>;
  /** The failed rows of an import as they are downloaded, without the header. */
  failuresOf(ended: EndedImport): Promise<readonly string[]>;
}

/** Imports files into the tenant of a test. */
export const importingFiles = ({
  crm,
  caller,
  get,
}: Pick<TestTenant, 'crm' | 'caller' | 'get'>): ImportingFiles => {
  const ended: ImportingFiles['ended'] = async (id) => {
    let found: EndedImport = { id };
    await until(async () => {
      found = (await get(`/api/crm/imports/${id}`).expect(200)).body.data;
      return ['completed', 'failed', 'cancelled'].includes(found.status as string);
    });
    return found;
  };
  return {
    ended,

    async importFile(file, fields = {}) {
      const request = crm().http.post('/api/crm/imports').set(caller());
      for (const [name, value] of Object.entries({ resource: 'contacts', ...fields })) {
        void request.field(name, value);
      }
      const options = { filename: 'some.csv', contentType: 'text/csv' };
      const { body } = await request.attach('file', Buffer.from(file), options).expect(201);
      return ended(body.data.id);
    },

    async failuresOf({ id }) {
      const { text } = await get(`/api/crm/imports/${id}/failures`).expect(200);
      return text.trimEnd().split('\r\n').slice(1);
    },
  };
};
