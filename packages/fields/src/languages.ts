import { type Field, field } from './field.ts';
import { string } from './string.ts';

/** The tag in its canonical form; undefined if it is no language tag of BCP 47. */
const canonical = (value: string): string | undefined => {
  try {
    return Intl.getCanonicalLocales(value)[0];
  } catch {
    return undefined;
  }
};

/** The longest tag that BCP 47 (section 4.4.1) asks implementations to support. */
const MAX_LENGTH = 35;

/**
 * A language tag of BCP 47, in canonical form: `EN-us` becomes `en-US`. JSON Schema describes only the form: the
 * runtime checks the tag.
 */
export const languageTag = (): Field<string, false> => {
  const pattern = /^([A-Za-z]{2,3}|[A-Za-z]{5,8})(-[A-Za-z0-9]{1,8})*$/;
  return field(
    string((value, { error }) => {
      const tag = value.length <= MAX_LENGTH && pattern.test(value) ? canonical(value) : undefined;
      return tag ?? error('language.invalid');
    }),
    { type: 'string', maxLength: MAX_LENGTH, pattern: pattern.source, examples: ['hu'] },
  );
};
