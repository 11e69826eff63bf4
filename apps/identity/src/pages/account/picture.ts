import type { User } from '../../generated/prisma/client.ts';
import { type Html, html } from '../../http/html.ts';
import type { Visit } from '../visit.ts';

const initialOf = (name: string): string => [...name.trim()][0]?.toLocaleUpperCase() ?? '';

/** The picture of a user or their initials; `alt` is the alternative text. */
export const pictureOf = (
  { texts: { isFamilyNameFirst } }: Pick<Visit, 'texts'>,
  { avatarUrl, firstName, lastName }: Pick<User, 'avatarUrl' | 'firstName' | 'lastName'>,
  alt: string,
): Html => {
  // Only pictures of this service: the pages' policy blocks others.
  const [, path] = /(\/pictures\/[\w-]+)\/256$/.exec(avatarUrl ?? '') ?? [];
  if (path !== undefined) {
    return html`<img class="portrait" src="${path}/256" srcset="${path}/512 2x" width="96" height="96" alt="${alt}">`;
  }
  const names = isFamilyNameFirst ? [lastName, firstName] : [firstName, lastName];
  return html`<span class="portrait" aria-hidden="true">${names.map(initialOf).join('')}</span>`;
};
