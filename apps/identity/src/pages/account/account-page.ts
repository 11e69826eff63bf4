import type { Fields } from '@tessera/fields';
import type { UserCaller } from '../../tokens/caller.ts';
import type { View } from '../layout.ts';
import { type AnyPage, type Page, page } from '../page.ts';
import { unfinished } from '../unfinished.ts';
import { Elsewhere, onwards, signedInUser, type Visit } from '../visit.ts';
import type { Section } from './sections.ts';

/** An account page as it is written: a page, for the person who is signed in. */
export interface AccountPage<Data, F extends Fields> extends Omit<Page<Data, F>, 'open' | 'view'> {
  /** What of the navigation it belongs to. */
  readonly section: Section;
  open(visit: Visit, user: UserCaller): Promise<Data> | Data;
  view(...given: Parameters<Page<Data, F>['view']>): Omit<View, 'section'>;
}

/** Whoever is at an account page: signed in, with nothing left to do first. Anybody else is sent there. */
const ownerOf = (visit: Visit): UserCaller => {
  const here = { ...visit, next: visit.req.path };
  const user = signedInUser(here);
  const first = user.restriction && unfinished[user.restriction];
  if (!first) return user;
  const { notice } = visit.query;
  throw new Elsewhere(onwards(here, first, notice === undefined ? {} : { notice }));
};

/** A page of `/account`, in its frame. */
export const accountPage = <Data, const F extends Fields = Record<never, never>>(
  written: AccountPage<Data, F>,
): AnyPage => {
  const { section, open, view, ...rest } = written;
  return page<Data, F>({
    ...rest,
    open: (visit) => open(visit, ownerOf(visit)),
    view: (visit, data, form) => ({ ...view(visit, data, form), section }),
  });
};
