import { type Field, rawText, withRule } from '@tessera/fields';

// Every emoji that Unicode recommends for general interchange, sequences included (UTS #51).
const PATTERN = '^\\p{RGI_Emoji}$';
// A literal with this flag would need a later language version than the compiler's target.
const EMOJI = new RegExp(PATTERN, 'v');

/** Requests the coloured form of a character that also has a form as text (UTS #51, section 2). */
const PRESENTATION = '\uFE0F';

/**
 * The one spelling of an emoji; undefined if the text is not exactly one emoji. `❤` is an emoji only with the
 * selector that many keyboards leave out.
 */
export const canonicalEmoji = (text: string): string | undefined =>
  [text, `${text}${PRESENTATION}`].find((spelling) => EMOJI.test(spelling));

const MAX_CODE_POINTS = 32;

/** Exactly one emoji; see `canonicalEmoji` for its spelling. */
export const emoji = (): Field<string, false> =>
  withRule(rawText(MAX_CODE_POINTS), (value) =>
    canonicalEmoji(value) === undefined ? 'must be one emoji' : undefined,
  );
