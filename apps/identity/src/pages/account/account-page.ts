import type { Fields } from '@tessera/fields';
import { HttpError } from '@tessera/http-kit';
import type { UserCaller } from '../../tokens/caller.ts';
import type { View } from '../layout.ts';
import { type AnyPage, type Page, page } from '../page.ts';
import { restrictionPages } from '../restriction-pages.ts';
import { pageAddress, Redirect, signedInUser, type Visit } from '../visit.ts';
import { type Section, sections } from './sections.ts';

/** The declaration of an account page, which needs a signed-in user. */
export interface AccountPage<Data, F extends Fields> extends Omit<Page<Data, F>, 'open' | 'view'> {
  /** Section in the navigation. */
  readonly section: Section;
  open(visit: Visit, user: UserCaller): Promise<Data> | Data;
  view(...given: Parameters<Page<Data, F>['view']>): Omit<View, 'section'>;
}

/** The signed-in user without restrictions; other visitors are redirected. */
const ownerOf = (visit: Visit): UserCaller => {
  const here = { ...visit, next: visit.req.path };
  const user = signedInUser(here);
  const first = user.restriction && restrictionPages[user.restriction];
  if (!first) return user;
  const { notice } = visit.query;
  throw new Redirect(pageAddress(here, first, notice === undefined ? {} : { notice }));
};

/**
 * Leads from something that no longer exists, such as a device that was removed in another tab, to the list of its
 * section. The list itself has nowhere else to lead to.
 */
const orList = async <T>(
  { req }: Visit,
  section: Section,
  work: () => Promise<T> | T,
): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    const isGone = error instanceof HttpError && error.status === 404;
    const isList = req.method === 'GET' && req.path === sections[section];
    throw isGone && !isList ? new Redirect(sections[section]) : error;
  }
};

/** Creates a page of `/account` with its frame. */
export const accountPage = <Data, const F extends Fields = Record<never, never>>(
  written: AccountPage<Data, F>,
): AnyPage => {
  const { section, open, view, form, ...rest } = written;
  return page<Data, F>({
    ...rest,
    open: (visit) => orList(visit, section, () => open(visit, ownerOf(visit))),
    view: (visit, data, state) => ({ ...view(visit, data, state), section }),
    ...(form && {
      form: {
        ...form,
        submit: (visit, ...given) => orList(visit, section, () => form.submit(visit, ...given)),
      },
    }),
  });
};
