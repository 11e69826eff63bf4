import { isUuid } from '@tessera/fields';

/** The maximum number of users that a message mentions; further ones are ignored. */
const MAX_MENTIONS = 50;

const MENTION = /<@([0-9a-f-]{36})>/gi;

/** The ids of the users that a text mentions as `<@id>`, in lower case, each once, in the order of the text. */
export const mentionsIn = (text: string): string[] => {
  const ids = [...text.matchAll(MENTION)].map(([, id = '']) => id.toLowerCase()).filter(isUuid);
  return [...new Set(ids)].slice(0, MAX_MENTIONS);
};
