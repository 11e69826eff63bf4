import { wordsOf } from '@tessera/content-worker';
import { Prisma } from '../../generated/prisma/client.ts';
import type { AlsoSearched } from '../../records/search.ts';

const { raw, sql } = Prisma;

/** Finds documents by the words in the text of their current version. */
export const documentTexts: AlsoSearched = {
  description:
    'Also finds documents whose text (txt, md, csv, pdf, docx) contains all words of the term, or words that begin with them; words of one or two letters are found as whole words. The text is searchable shortly after the upload.',
  condition(db, term) {
    const { words } = wordsOf(term);
    if (words.length === 0) return undefined;
    return sql`content_id = ANY(ARRAY(
      SELECT id FROM ${raw(db.readSchema)}.file_contents
      WHERE tenant_id = ${db.tenantId}::uuid AND words @@ tenant_crm.word_query(${words}::text[])
    ))`;
  },
};
