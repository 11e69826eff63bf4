import { emptyForm, message, signOutForm } from './form.ts';
import { type AnyPage, page } from './page.ts';
import { Elsewhere, type Visit } from './visit.ts';

/**
 * Where the result of a mailed link is told, about the account `userId`. Nobody who is signed in to another
 * account is led into that one as if it were theirs.
 */
export const resultAddress = (
  { user }: Pick<Visit, 'user'>,
  notice: string,
  userId: string | null | undefined,
): string =>
  `${user === null || user.id === userId ? '/sign-in' : '/result'}?${new URLSearchParams({ notice })}`;

/** The result of a mailed link, for a reader who is signed in to another account. */
export const resultPage: AnyPage = page({
  path: '/result',
  open({ user, query: { notice = '' } }) {
    if (user) return user;
    throw new Elsewhere(`/sign-in?${new URLSearchParams({ notice })}`);
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
