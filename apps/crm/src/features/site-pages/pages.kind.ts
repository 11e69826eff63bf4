import { clearable, described, nullable, uuid } from '@tessera/fields';
import { contentKind } from '../../content/content-kind.ts';
import { equals } from '../../records/filters.ts';
import type { RecordsOf } from '../../records/records.ts';
import { hidden } from '../../records/row.ts';
import { contentLinks } from '../content/content-links.ts';
import { placeNewPage } from './pages.rules.ts';

/** Columns of pages that responses do not show. */
export interface HiddenPage {
  /** The place below the parent. */
  readonly position: string;
  readonly deleted_with: string | null;
}

const parent = described(clearable(uuid()), 'The page above; null is the root.');

/** A page of the tree of pages. */
export const page = contentKind<
  { parent_id: typeof parent },
  { parent_id: ReturnType<typeof nullable<ReturnType<typeof uuid>>> },
  HiddenPage
>({
  table: 'pages',
  name: 'page',
  schema: 'Page',
  permissions: 'pages',
  links: contentLinks('pages'),
  input: { parent_id: parent },
  answer: { parent_id: described(nullable(uuid()), 'The page above; null is the root') },
  hidden: { position: hidden<string>(), deleted_with: hidden<string | null>() },
  sort: { position: 'position' },
  filters: { parent_id: equals('parent_id', uuid()) },
  rules: { create: (input, context) => placeNewPage(input, context) },
});

export type Pages = RecordsOf<typeof page>;
