import { clamped, described, type Field, withDefault } from '@tessera/fields';

/** The page of a list that a request asks for. */
export interface PageRequest {
  readonly page: number;
  readonly perPage: number;
}

/** The number of the last page; 1 for an empty list. */
export const lastPage = (total: number, perPage: number): number =>
  Math.max(1, Math.ceil(total / perPage));

/** The requested page; the last one if the list ends before it (decision B3). */
export const pageWithin = ({ page, perPage }: PageRequest, total: number): number =>
  Math.min(page, lastPage(total, perPage));

/** The highest number of a page that is not moved into the range; lists are shorter. */
const MAX_PAGE = 1_000_000_000;

/** A type alias, because shapes are made of types with an index signature. */
export type PageParameters = Readonly<Record<'page' | 'per_page', Field<number, true>>>;

/** The query parameters of a list, with the default of `per_page`. Values out of range are clamped (decision B3). */
export const pageParameters = (perPage: number): PageParameters => ({
  page: described(
    withDefault(clamped(1, MAX_PAGE), 1),
    'The number of the page, from 1. Beyond the end of the list, the response is the last page: `meta.current_page` says which page it is.',
  ),
  per_page: withDefault(clamped(1, 100), perPage),
});
