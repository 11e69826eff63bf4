import { contentTag } from '../../content/content.schema.ts';
import type { ContentLinks, ContentTable } from '../../content/content-types.ts';
import { readSettings } from '../settings/settings.service.ts';
import { taggedWith } from '../tags/tag-filter.ts';
import { tagLimit } from '../tags/tag-limit.ts';
import { requireCover } from './covers.ts';

/** What a kind of content needs from other features. */
export const contentLinks = (table: ContentTable): ContentLinks => ({
  tag: taggedWith(table, contentTag),
  constraints: tagLimit(table),
  defaultLanguage: async (db) => (await readSettings(db)).content_language,
  requireCover,
});
