import type Joi from 'joi';
import { list, withRule } from './compose.ts';
import type { Field } from './field.ts';
import { lengthOf } from './string.ts';
import { text } from './words.ts';

/**
 * A text as it is compared regardless of case and Unicode form. Upper case comes first, because it is the same for all forms of a
 * letter in lower case, such as the Greek sigma. The sharp s and the dotted I are replaced, because each of their cases has another
 * upper case.
 */
export const caseFolded = (value: string): string =>
  value
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('i\u0307', 'i');

/** Characters without a width of their own, but not the joiners that scripts and emoji need. */
const INVISIBLE = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/**
 * A tag of 1 to `max` code points, in composed letters (NFC) and without invisible characters. It is a segment of URLs, in which
 * `.` and `..` have another meaning (RFC 3986 section 5.2.4).
 */
export const tagText = (max: number): Field<string, false> => {
  const { joi, ...others } = text(max);
  const visible = (joi as Joi.StringSchema).custom((value: string) =>
    value.normalize('NFC').replace(INVISIBLE, ''),
  );
  return withRule({ ...others, joi: visible }, (value) => {
    if (value === '.' || value === '..') return 'must not be "." or ".."';
    // Some letters are two in NFC.
    return lengthOf(value) > max ? `must have at most ${max} characters` : undefined;
  });
};

/** Up to 50 tags in the order in which they were given; none twice, whatever its case and Unicode form. */
export const tagList = (tag: Field<string, false>): Field<string[], false> =>
  list(tag, {
    max: 50,
    // Items that are no text have an error of their own.
    unique: (one) => (typeof one === 'string' ? caseFolded(one) : one),
  });
