import type { Field, Out, Shape } from './field.ts';

/** Messages by field path (`addresses.0.city`). */
export type FieldErrors = Record<string, string[]>;

export type Validation<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: FieldErrors };

/**
 * For an input with more values than this, only the first error is reported: finding all would take seconds.
 */
const MAX_VALUES_EXPLAINED = 1000;

const isSmall = (value: unknown): boolean => {
  const pending = [value];
  for (let seen = 0; pending.length > 0; seen += 1) {
    if (seen + pending.length > MAX_VALUES_EXPLAINED) return false;
    const next = pending.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const inner of Object.values(next)) pending.push(inner);
  }
  return true;
};

/** The maximum length of a name in errors, in UTF-16 code units. */
export const MAX_NAME_LENGTH = 201;

/** A name from the input as errors repeat it: names longer than any declared one are truncated. */
export const shortName = (name: string): string =>
  name.length < MAX_NAME_LENGTH
    ? name
    : `${name.slice(0, MAX_NAME_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')}…`;

const firstFault = {
  abortEarly: true,
  convert: false,
  presence: 'required',
  // Messages then read "must be ..."; `validate` puts the path in front.
  errors: { label: false },
} as const;
const everyFault = { ...firstFault, abortEarly: false } as const;

/**
 * Validates a value and returns the validated value, or the errors of all invalid paths (only the first one if
 * the input has more than 1000 values). Nothing is converted: `"1"` is not a number. `root` names the value
 * itself in errors about the value as a whole.
 */
export const validate = <F extends Field>(
  field: F,
  value: unknown,
  root = 'body',
): Validation<Out<F>> => {
  const first = field.joi.validate(value, firstFault);
  if (!first.error) return { ok: true, value: first.value };
  const { error = first.error } = isSmall(value) ? field.joi.validate(value, everyFault) : first;
  // Without a prototype, a field named "constructor" or "__proto__" is an ordinary key.
  const errors: FieldErrors = Object.create(null);
  for (const { path, message } of error.details) {
    const name = path.length === 0 ? root : shortName(path.join('.'));
    errors[name] = [...(errors[name] ?? []), `${name} ${message}`];
  }
  return { ok: false, errors };
};

/**
 * The number or boolean that a text stands for, if the field is one. Text that cannot be converted is kept, so that
 * validation reports it.
 */
export const textValue = ({ json }: Field, value: string): unknown => {
  const type = [json.type].flat()[0];
  if (type === 'integer' && /^-?\d+$/.test(value)) return Number(value);
  // As JSON writes numbers: 1e-7.
  if (type === 'number' && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value)) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
};

/** Converts text with `textValue` for inputs that are always text: query strings and environment variables. */
export const readTexts = (shape: Shape, texts: Readonly<Record<string, unknown>>): unknown =>
  Object.fromEntries(
    Object.entries(texts).map(([key, value]) => {
      const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
      return [key, field && typeof value === 'string' ? textValue(field, value) : value];
    }),
  );
