import Joi from 'joi';

/** The messages of checks that Joi does not have. */
const messages = {
  'rule.broken': '{{#message}}',
  'text.ill_formed': '{{#label}} must not contain NUL or unpaired surrogates',
  'time.invalid': '{{#label}} must be an existing time in ISO 8601 format with a time zone',
  'date.invalid': '{{#label}} must be an existing date in the form YYYY-MM-DD',
  'domain.invalid': '{{#label}} must be a domain, like example.com',
  'email.invalid': '{{#label}} must be an e-mail address',
  'url.invalid':
    '{{#label}} must be an http or https URL without credentials, whose host is a name or an IP address in its usual notation',
  'uuid.invalid': '{{#label}} must be a UUID',
  'language.invalid': '{{#label}} must be a BCP 47 language tag, such as hu or en-GB',
  'timezone.invalid': '{{#label}} must be the name of a time zone, such as Europe/Budapest',
};

// Joi merges the messages of a schema with all others at every validation, which takes longer than most checks.
// Those of a type are merged once.
const ownStrings: { string(): Joi.StringSchema } = Joi.extend((joi) => ({
  type: 'string',
  base: joi.string(),
  messages,
}));

/** A string validated by a custom check, which may also change it. */
export const string = (check: Joi.CustomValidator<string, unknown>): Joi.StringSchema =>
  ownStrings.string().custom(check);

/** PostgreSQL cannot store NUL or unpaired surrogates. */
export const isStorable = (value: string): boolean => value.isWellFormed() && !value.includes('\0');

/** White space and characters that nobody sees, such as joiners, directions and fillers; not those beyond the BMP. */
const UNSEEN = /\s|\u2800|\p{Default_Ignorable_Code_Point}/u;

/** A variation selector belongs to the character before it: it makes a heart an emoji. */
const isSelector = (value: string, at: number): boolean =>
  at > 0 && /[\ufe00-\ufe0f]/.test(value.charAt(at)) && !UNSEEN.test(value.charAt(at - 1));

/** A text without white space and invisible characters around it; empty if it has no others. */
export const trimmed = (value: string): string => {
  let start = 0;
  let end = value.length;
  while (start < end && UNSEEN.test(value.charAt(start))) start += 1;
  while (end > start && UNSEEN.test(value.charAt(end - 1)) && !isSelector(value, end - 1)) end -= 1;
  const inner = value.slice(start, end);
  // The others are language tags and selectors, which stay behind something that is seen.
  return /[^\p{Default_Ignorable_Code_Point}\s]/u.test(inner) ? inner : '';
};

/** Whether a text has more than `max` code points; does not count those of much longer ones. */
export const isLonger = (value: string, max: number): boolean =>
  value.length > max && (value.length > 2 * max || lengthOf(value) > max);

/** The length in code points. */
export const lengthOf = (value: string): number => {
  let points = 0;
  for (const _ of value) points += 1;
  return points;
};
