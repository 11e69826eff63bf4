import { domainToASCII, domainToUnicode } from 'node:url';
import Joi from 'joi';
import { type Field, field } from './field.ts';
import { isStorable, lengthOf, string } from './string.ts';

/** Said by negation: reference pages make their examples from a positive pattern, and `\S` gives "}". */
const never = (pattern: string): { not: object } => ({ not: { type: 'string', pattern } });
const NUL = '\\u0000';
const notBlank = never(`^\\s*$|${NUL}`);
const withoutNul = never(NUL);

/** Text of 1 to `max` code points that is not blank; white space around it is cut off. */
export const text = (max: number): Field<string, false> =>
  field(
    string((value, { error }) => {
      if (!isStorable(value)) return error('text.ill_formed');
      if (value.length > max && lengthOf(value) > max) return error('string.max', { limit: max });
      return value.trim() || error('string.empty');
    }),
    { type: 'string', maxLength: max, ...notBlank },
  );

/** Text kept to the letter, blanks and all: passwords, tokens, search terms. May be empty when `min` is 0. */
export const verbatim = (max: number, min = 1): Field<string, false> => {
  const joi = string((value, { error }) => {
    if (!isStorable(value)) return error('text.ill_formed');
    const length = lengthOf(value);
    if (length > max) return error('string.max', { limit: max });
    return length < min ? error('string.min', { limit: min }) : value;
  });
  return field(min === 0 ? (joi as Joi.StringSchema).allow('') : joi, {
    type: 'string',
    minLength: min,
    maxLength: max,
    ...withoutNul,
  });
};

/** Text that matches a pattern; `what` ends the sentence "must be ...". */
export const matching = (pattern: RegExp, what: string, max: number): Field<string, false> => {
  // JSON Schema knows patterns and no flags: what is described would not be what is checked.
  if (pattern.flags.replace('u', '')) throw new TypeError(`${pattern} has flags other than u.`);
  const joi = string((value, { error }) => {
    if (!isStorable(value)) return error('text.ill_formed');
    if (lengthOf(value) > max) return error('string.max', { limit: max });
    return pattern.test(value) ? value : error('string.pattern.base');
  }).messages({ 'string.pattern.base': `{{#label}} must be ${what}` });
  return field(pattern.test('') ? (joi as Joi.StringSchema).allow('') : joi, {
    type: 'string',
    maxLength: max,
    pattern: pattern.source,
    ...withoutNul,
  });
};

/** One spelling of an address: lower case, composed letters (NFC), a domain in its own script (RFC 5891). */
const canonicalAddress = (address: string): string => {
  const at = address.indexOf('@');
  const local = address.slice(0, at).toLowerCase().normalize('NFC');
  const written = address.slice(at + 1).toLowerCase();
  return `${local}@${domainToUnicode(domainToASCII(written)) || written.normalize('NFC')}`;
};

/**
 * An e-mail address, given in one spelling of it. Only the shape is checked (letters of any script, one @, a
 * domain with a dot): whether it exists is for a message to find out. The characters that mean something
 * in a mail header are refused: `a,victim@example.com` would go to the victim. The spelling that is given
 * keeps to the limit, too: some letters become two in lower case.
 */
export const email = (): Field<string, false> => {
  const pattern = /^[^\s@<>()[\],;:\\"]+@[^\s@.<>()[\],;:\\"]+(\.[^\s@.<>()[\],;:\\"]+)+$/;
  const isAddress = (value: string): boolean => lengthOf(value) <= 254 && pattern.test(value);
  return field(
    string((value, { error }) => {
      if (!isStorable(value) || !isAddress(value)) return error('email.invalid');
      const canonical = canonicalAddress(value);
      // A domain such as xn--xn--... is another one each time that it is read.
      const isSettled = canonicalAddress(canonical) === canonical;
      return isSettled && isAddress(canonical) ? canonical : error('email.invalid');
    }),
    {
      type: 'string',
      maxLength: 254,
      pattern: pattern.source,
      ...withoutNul,
      examples: ['ada@example.com'],
    },
  );
};

/** A domain of at least two labels, of letters of any script, given in lower case; no address, no port. */
export const domain = (): Field<string, false> => {
  const pattern = /^[\p{L}\p{M}\p{N}_-]+(\.[\p{L}\p{M}\p{N}_-]+)+$/u;
  const isDomain = (value: string): boolean => lengthOf(value) <= 253 && pattern.test(value);
  return field(
    string((value, { error }) => {
      const lower = value.toLowerCase();
      return isDomain(value) && isDomain(lower) ? lower : error('domain.invalid');
    }),
    { type: 'string', maxLength: 253, pattern: pattern.source, examples: ['example.com'] },
  );
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID (RFC 9562), in upper or lower case. */
export const isUuid = (value: string): boolean => UUID.test(value);

/** A UUID (RFC 9562), given in lower case. */
export const uuid = (): Field<string, false> =>
  field(
    string((value, { error }) => (isUuid(value) ? value.toLowerCase() : error('uuid.invalid'))),
    { type: 'string', format: 'uuid' },
  );

/**
 * The id of a record of the same tenant, in the collection with this path: `companies`. Documents say which
 * in `x-reference`, so that the conformance tests can create a target.
 */
export const reference = (collection: string): Field<string, false> => {
  const { joi, json } = uuid();
  return field(joi, { ...json, 'x-reference': collection });
};

/** A text in its place is told what the field takes, too: "1.5" is a number. */
const integer = (): Joi.NumberSchema =>
  Joi.number().integer().messages({ 'number.base': '{{#label}} must be an integer' });

/** A whole number within bounds, both included. */
export const int = (min: number, max: number): Field<number, false> =>
  field(integer().min(min).max(max), { type: 'integer', minimum: min, maximum: max });

/** A whole number that is moved to the nearest bound when it lies outside. */
export const clamped = (min: number, max: number): Field<number, false> =>
  field(
    integer()
      .unsafe()
      .custom((value: number) => Math.min(Math.max(value, min), max)),
    { type: 'integer', description: `Moved into ${min} to ${max} when outside.` },
  );

/** A number within bounds, both included. */
export const number = (min: number, max: number): Field<number, false> =>
  field(Joi.number().min(min).max(max), { type: 'number', minimum: min, maximum: max });

export const bool = (): Field<boolean, false> => field(Joi.boolean(), { type: 'boolean' });

/** One of a closed set of values. */
export const oneOf = <const V extends readonly (string | number | boolean)[]>(
  ...values: V
): Field<V[number], false> => field(Joi.valid(...values), { enum: values });

const daysIn = (year: number, month: number): number =>
  new Date(Date.UTC(year, month, 0)).getUTCDate();

const isCalendarDate = (value: string): boolean => {
  const [year = 0, month = 0, day = 0] = value.split('-').map(Number);
  return year > 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
};

/** `date-time` of RFC 3339 section 5.6: letters of either case or a space between, any fraction, a leap second. */
const TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

const MINUTE_MS = 60_000;

/** The moment that a text names, to the millisecond; undefined where it names none. */
const momentOf = (text: string): Date | undefined => {
  const [, date, hour, minute, second, fraction = '', zone] = TIME.exec(text) ?? [];
  if (date === undefined || zone === undefined || !isCalendarDate(date)) return undefined;
  // `Date` knows neither leap seconds nor the zone in lower case, and engines differ in long fractions.
  const isLeap = second === '60';
  const seconds = isLeap ? '59' : second;
  const moment = new Date(
    `${date}T${hour}:${minute}:${seconds}${fraction.slice(0, 4)}${zone.toUpperCase()}`,
  );
  if (!isLeap) return moment;
  // Leap seconds end the last minute of a day in UTC; what comes after it is the next day.
  if (moment.getUTCHours() !== 23 || moment.getUTCMinutes() !== 59) return undefined;
  return new Date(Math.floor(moment.getTime() / MINUTE_MS) * MINUTE_MS + MINUTE_MS);
};

/** Years that have four digits in UTC, too: `0001-01-01T00:00:00+10:00` lies in the year 0. */
const isInRange = (moment: Date): boolean =>
  moment.getUTCFullYear() >= 1 && moment.getUTCFullYear() <= 9999;

/**
 * A moment as RFC 3339 writes it, with its zone; a `Date` in code, in UTC and to the millisecond. A leap second
 * is the first moment of the next day. A day that does not exist is refused.
 */
export const time = (): Field<Date, false> =>
  field(
    string((value, { error }) => {
      const moment = value.length <= 100 ? momentOf(value) : undefined;
      return moment && isInRange(moment) ? moment : error('time.invalid');
    }),
    { type: 'string', format: 'date-time', maxLength: 100 },
  );

/** A calendar date, `YYYY-MM-DD`, that exists. */
export const date = (): Field<string, false> =>
  field(
    string((value, { error }) =>
      /^\d{4}-\d{2}-\d{2}$/.test(value) && isCalendarDate(value) ? value : error('date.invalid'),
    ),
    { type: 'string', format: 'date' },
  );

const isTimeZone = (value: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return true;
  } catch {
    return false;
  }
};

/**
 * The name of a time zone of the IANA database. JSON Schema tells its form; which names exist changes
 * from year to year and is known to the runtime.
 */
export const timeZone = (): Field<string, false> => {
  const pattern = /^(UTC|[A-Z][A-Za-z]+(\/[A-Z][A-Za-z_+-]*[0-9]{0,2})+)$/;
  return field(
    string((value, { error }) =>
      value.length <= 64 && pattern.test(value) && isTimeZone(value)
        ? value
        : error('timezone.invalid'),
    ),
    { type: 'string', maxLength: 64, pattern: pattern.source, examples: ['Europe/Budapest'] },
  );
};

const MAX_DEPTH = 32;

const isStorableJson = (value: unknown, depth = 0): boolean => {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  return (
    depth < MAX_DEPTH &&
    Object.entries(value).every(
      ([key, inner]) => isStorable(key) && isStorableJson(inner, depth + 1),
    )
  );
};

/** Any JSON value that can be stored, at most 32 levels deep; for payloads that belong to others. */
export const anything = (): Field<unknown, false> =>
  field(
    Joi.custom((value, { error }) =>
      isStorableJson(value) ? value : error('any.ill_formed'),
    ).messages({
      'any.ill_formed':
        '{{#label}} must not contain NUL or unpaired surrogates, nor be nested too deeply',
    }),
    { description: 'No text in it may contain NUL.', ...withoutNul },
  );
