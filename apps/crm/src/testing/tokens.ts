const CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Another spelling of an encoded id: of its last character, decoding ignores four of the six bits. */
export const otherSpelling = (part: string): string => {
  const last = CHARACTERS.indexOf(part.slice(-1));
  return `${part.slice(0, -1)}${CHARACTERS.charAt(last ^ 1)}`;
};
