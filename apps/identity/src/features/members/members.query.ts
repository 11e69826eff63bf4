import { type Out, oneOf, optional, shape, withDefault } from '@tessera/fields';
import { pageFields } from '../../http/route.ts';
import { searchWords } from '../../lists/search.ts';
import type { MemberQuery } from './member.ts';

const SORTS = ['name', '-name', 'email', '-email', 'created_at', '-created_at'] as const;
type Sort = (typeof SORTS)[number];

/** Query parameters of a member list. */
export const MembersInQuery = shape({
  ...pageFields,
  search: optional(searchWords()),
  sort: withDefault(oneOf(...SORTS), 'name'),
});

const sortOf = (sort: Sort): MemberQuery['sort'] => ({
  by: sort.replace('-', '') as MemberQuery['sort']['by'],
  order: sort.startsWith('-') ? 'desc' : 'asc',
});

export const memberQueryOf = (query: Out<typeof MembersInQuery>): MemberQuery => ({
  page: query.page,
  perPage: query.per_page,
  search: query.search,
  sort: sortOf(query.sort),
});
