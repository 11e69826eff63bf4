import { emptyForm, message, signOutForm } from './form.ts';
import { type AnyPage, page } from './page.ts';
import { Redirect, type Visit } from './visit.ts';

/**
 * URL of the page with the result of a mailed link about account `userId`. A visitor signed in to another
 * account stays there.
 */
export const resultAddress = (
  { user }: Pick<Visit, 'user'>,
  notice: string,
  userId: string | null | undefined,
): string =>
  `${user === null || user.id === userId ? '/sign-in' : '/result'}?${new URLSearchParams({ notice })}`;

/** The result of a mailed link for a visitor who is signed in to another account. */
export const resultPage: AnyPage = page({
  path: '/result',
  open({ user, query: { notice = '' } }) {
    if (user) return user;
    throw new Redirect(`/sign-in?${new URLSearchParams({ notice })}`);
  },
  view(visit, user) {
    const { result: texts } = visit.texts;
    return {
      title: texts.title,
      lead: texts.other(user.email ?? user.firstName),
      body: [message({ ...visit, user: null }, emptyForm), signOutForm(visit)],
    };
  },
});
