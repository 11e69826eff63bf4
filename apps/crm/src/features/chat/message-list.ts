import {
  bool,
  clamped,
  described,
  int,
  type Out,
  optional,
  shape,
  uuid,
  withDefault,
} from '@tessera/fields';
import { invalidField, lastPage } from '@tessera/http-kit';
import { page } from '../../http.ts';
import { paging } from '../../records/paging.ts';
import type { MessagePage } from './messages.repository.ts';
import { Message } from './messages.schema.ts';

const position = int(0, Number.MAX_SAFE_INTEGER);

/** The query parameters of a channel's messages, which are paged by position or by number. */
export const MessageQuery = shape({
  before: described(
    optional(position),
    'Only messages at lower positions: the newest of them, and then older ones.',
  ),
  after: described(
    optional(position),
    'Only messages at higher positions: without `before`, the oldest of them, and then newer ones.',
  ),
  page: described(
    optional(clamped(1, Number.MAX_SAFE_INTEGER)),
    'The number of the page, from 1; beyond the end, the last one. Not together with `before` or `after`. Pages that are far from the newest message take longer than with these.',
  ),
  per_page: withDefault(clamped(1, 100), 25),
  thread_root_id: described(optional(uuid()), 'Only replies to this message'),
  is_reply: described(optional(bool()), 'Only replies, or only messages that are none'),
  is_pinned: described(optional(bool()), 'Only pinned messages, or only those that are not'),
});

export type MessageQuery = Out<typeof MessageQuery>;

export const MessageList = page(Message);

/** 422 if a page is given by position and by number. */
export const checkPage = ({ before, after, page: number }: MessageQuery): void => {
  if (number === undefined || (before === undefined && after === undefined)) return;
  throw invalidField('page', 'page must not be given together with before or after');
};

interface Positioned {
  readonly position: number;
}

/** The bounds of a page in its link. */
interface Bounds {
  readonly before?: number | undefined;
  readonly after?: number | undefined;
}

/**
 * The `meta` and `links` of a page. Pages by number have the links of all lists. Of others, `next` are older messages, `prev` newer ones, which may not exist yet. `last` are
 * the oldest ones. All pages between `before` and `after` stay above `after`. They have no link to newer ones, because
 * `before` is also where the previous page ended.
 */
export const messagePaging = (
  url: string,
  { before, after, page: number, per_page: perPage }: MessageQuery,
  { rows, page: current, total, totalIsMinimum, more, oldestEnd = before }: MessagePage<Positioned>,
): Pick<Out<typeof MessageList>, 'meta' | 'links'> => {
  if (number !== undefined)
    return paging(url, { page: current, perPage, total, totalIsMinimum, more });
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const link = (bounds: Bounds): string => {
    const parameters = new URLSearchParams(searchParams);
    for (const name of ['before', 'after'] as const) {
      const { [name]: value } = bounds;
      if (value === undefined) parameters.delete(name);
      else parameters.set(name, `${value}`);
    }
    const query = parameters.toString();
    return query ? `${pathname}?${query}` : pathname;
  };
  const isBetween = before !== undefined && after !== undefined;
  const isForward = after !== undefined && !isBetween;
  const [newest, oldest] = [rows[0]?.position, rows.at(-1)?.position];
  const hasOlder = oldest !== undefined && (isForward ? oldest > 1 : more);
  const hasNewer = newest !== undefined && (isForward ? more : before !== undefined && !isBetween);
  return {
    meta: {
      current_page: current,
      last_page: Math.max(lastPage(total, perPage), current),
      per_page: perPage,
      total,
      ...(totalIsMinimum && { total_is_minimum: true }),
    },
    links: {
      first: link(isBetween ? { before, after } : {}),
      last: link(isBetween ? { before: oldestEnd, after } : { after: 0 }),
      prev: hasNewer ? link({ after: newest }) : null,
      next: hasOlder ? link({ before: oldest, after: isBetween ? after : undefined }) : null,
    },
  };
};
