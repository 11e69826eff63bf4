import { lastPage, pageWithin } from '@tessera/http-kit';
import type { PageLinks, PageMeta } from '../http.ts';
import { exactly, offsetOf, type Page } from './listing.ts';

/**
 * The `meta` and `links` of a page. Links are absolute paths, which work behind any proxy, and keep all other
 * query parameters.
 */
export const paging = (
  url: string,
  { page, perPage, total, totalIsMinimum, more }: Omit<Page<unknown>, 'rows'>,
): { meta: PageMeta; links: PageLinks } => {
  const last = Math.max(lastPage(total, perPage), more ? page + 1 : page);
  // A query may contain another question mark (RFC 3986 section 3.4).
  const [path, ...query] = url.split('?');
  const parameters = new URLSearchParams(query.join('?'));
  const link = (to: number): string => {
    parameters.set('page', `${to}`);
    return `${path}?${parameters}`;
  };
  return {
    meta: {
      current_page: page,
      last_page: last,
      per_page: perPage,
      total,
      ...(totalIsMinimum && { total_is_minimum: true }),
    },
    links: {
      first: link(1),
      last: link(last),
      prev: page > 1 ? link(page - 1) : null,
      next: more ? link(page + 1) : null,
    },
  };
};

/** One page of a list that is in memory. */
export const pageOf = <T>(all: readonly T[], requested: number, perPage: number): Page<T> => {
  const total = all.length;
  const page = pageWithin({ page: requested, perPage }, total);
  const from = offsetOf(page, perPage);
  return exactly({ perPage }, { rows: all.slice(from, from + perPage), page, total });
};
