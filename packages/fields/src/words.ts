import Joi from 'joi';
import { type Field, field } from './field.ts';
import { isLonger, isStorable, lengthOf, string, trimmed } from './string.ts';

/**
 * Written as a negation because API references generate examples from positive patterns, and `\S` yields "}".
 */
const never = (pattern: string): { not: object } => ({ not: { type: 'string', pattern } });
const NUL = '\\u0000';
const notBlank = never(`^\\s*$|${NUL}`);
const withoutNul = never(NUL);

/** Text of 1 to `max` code points that is not blank; white space and invisible characters around it are trimmed. */
export const text = (max: number): Field<string, false> =>
  field(
    string((value, { error }) => {
      if (!isStorable(value)) return error('text.ill_formed');
      if (isLonger(value, max)) return error('string.max', { limit: max });
      return trimmed(value) || error('string.empty');
    }),
    { type: 'string', maxLength: max, ...notBlank },
  );

/**
 * Text that is kept unchanged, including white space: passwords, tokens, search terms. May be empty if `min` is
 * 0.
 */
export const rawText = (max: number, min = 1): Field<string, false> => {
  const joi = string((value, { error }) => {
    if (!isStorable(value)) return error('text.ill_formed');
    if (isLonger(value, max)) return error('string.max', { limit: max });
    return value.length < 2 * min && lengthOf(value) < min
      ? error('string.min', { limit: min })
      : value;
  });
  return field(min === 0 ? joi.allow('') : joi, {
    type: 'string',
    minLength: min,
    maxLength: max,
    ...withoutNul,
  });
};

/** Text that matches a pattern; `what` completes the message "must be ...". */
export const matching = (pattern: RegExp, what: string, max: number): Field<string, false> => {
  // JSON Schema patterns have no flags, so the schema would not describe the check.
  if (pattern.flags.replace('u', '')) throw new TypeError(`${pattern} has flags other than u.`);
  const joi = string((value, { error }) => {
    if (!isStorable(value)) return error('text.ill_formed');
    if (isLonger(value, max)) return error('string.max', { limit: max });
    return pattern.test(value) ? value : error('string.pattern.base');
  }).messages({ 'string.pattern.base': `{{#label}} must be ${what}` });
  return field(pattern.test('') ? joi.allow('') : joi, {
    type: 'string',
    maxLength: max,
    pattern: pattern.source,
    ...withoutNul,
  });
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID (RFC 9562) in upper or lower case. */
export const isUuid = (value: string): boolean => UUID.test(value);

/** A UUID (RFC 9562), converted to lower case. */
export const uuid = (): Field<string, false> =>
  field(
    string((value, { error }) => (isUuid(value) ? value.toLowerCase() : error('uuid.invalid'))),
    { type: 'string', format: 'uuid' },
  );

/**
 * The id of a record of the same tenant in the collection with this path, such as `companies`. Documents name
 * the collection in `x-reference`, from which the conformance tests create a valid target.
 */
export const reference = (collection: string): Field<string, false> => {
  const { joi, json } = uuid();
  return field(joi, { ...json, 'x-reference': collection });
};

/** Text gets the same message as a fraction, so that both name the expected type. */
const integer = (): Joi.NumberSchema =>
  Joi.number().integer().messages({ 'number.base': '{{#label}} must be an integer' });

/** An integer between `min` and `max`, both included. */
export const int = (min: number, max: number): Field<number, false> =>
  field(integer().min(min).max(max), { type: 'integer', minimum: min, maximum: max });

/** An integer; a value outside the bounds is set to the nearest bound. */
export const clamped = (min: number, max: number): Field<number, false> =>
  field(
    integer()
      .unsafe()
      .custom((value: number) => Math.min(Math.max(value, min), max)),
    { type: 'integer', description: `Moved into ${min} to ${max} when outside.` },
  );

/** A number between `min` and `max`, both included. */
export const number = (min: number, max: number): Field<number, false> =>
  field(Joi.number().min(min).max(max), { type: 'number', minimum: min, maximum: max });

export const bool = (): Field<boolean, false> => field(Joi.boolean(), { type: 'boolean' });

/** One of a closed set of values. */
export const oneOf = <const V extends readonly (string | number | boolean)[]>(
  ...values: V
): Field<V[number], false> => field(Joi.valid(...values), { enum: values });

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

/** Any storable JSON value with at most 32 levels of nesting, for payloads of third parties. */
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
