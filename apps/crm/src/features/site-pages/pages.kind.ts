import { clearable, described, nullable, uuid } from '@tessera/fields';
import { contentKind } from '../../content/content-kind.ts';
import { equals } from '../../records/filters.ts';
import type { RecordsOf } from '../../records/records.ts';
import { hidden } from '../../records/row.ts';
import { contentLinks } from '../content/content-links.ts';
import { inRoot } from '../document-folders/folders.filters.ts';
import {
  checkPageDeletion,
  followPage,
  placeNewPage,
  placeRestoredPage,
  placeUpdatedPage,
} from './pages.rules.ts';

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
  filters: { parent_id: equals('parent_id', uuid()), in_root: inRoot('parent_id') },
  rules: {
    create: (input, context) => placeNewPage(input, context),
    update: (change, context) => placeUpdatedPage(change, context),
    delete: (context) => checkPageDeletion(context),
    restore: (context) => placeRestoredPage(context),
  },
  follow: (change) => followPage(change),
});

export type Pages = RecordsOf<typeof page>;
