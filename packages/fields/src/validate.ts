import type { Field, Out, Shape } from './field.ts';

/** Messages by field path (`addresses.0.city`). */
export type FieldErrors = Record<string, string[]>;

export type Validation<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: FieldErrors };

/** Of an input with more values than this only the first fault is named: naming all would take seconds. */
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

/** Most code units of a name in errors. */
export const LONGEST_NAME = 201;

/** A name that was sent, as errors repeat it: what is longer than any name of ours is cut. */
export const shortName = (name: string): string =>
  name.length < LONGEST_NAME
    ? name
    : `${name.slice(0, LONGEST_NAME - 1).replace(/[\ud800-\udbff]$/, '')}…`;

const firstFault = {
  abortEarly: true,
  convert: false,
  presence: 'required',
  // Without the label a message is a bare "must be ..."; the path goes before it.
  errors: { label: false },
} as const;
const everyFault = { ...firstFault, abortEarly: false } as const;

/**
 * Checks a value against its field and gives what the field yields, or every failing path at once
 * (of an input of more than 1000 values, the first one). Nothing is converted: `"1"` is no number.
 * `root` names the value itself in errors about the whole of it.
 */
export const validate = <F extends Field>(
  field: F,
  value: unknown,
  root = 'body',
): Validation<Out<F>> => {
  const first = field.joi.validate(value, firstFault);
  if (!first.error) return { ok: true, value: first.value };
  const { error = first.error } = isSmall(value) ? field.joi.validate(value, everyFault) : first;
  // Without a prototype, a field called "constructor" or "__proto__" is a name like any other.
  const errors: FieldErrors = Object.create(null);
  for (const { path, message } of error.details) {
    const name = path.length === 0 ? root : shortName(path.join('.'));
    errors[name] = [...(errors[name] ?? []), `${name} ${message}`];
  }
  return { ok: false, errors };
};

const fromText = ({ json }: Field, value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  const type = [json.type].flat()[0];
  if (type === 'integer' && /^-?\d+$/.test(value)) return Number(value);
  if (type === 'number' && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
};

/**
 * Reads numbers and booleans out of texts, for the places that know texts only: query strings and
 * environment variables. What cannot be read stays a text, and so fails the check with its name.
 */
export const readTexts = (shape: Shape, texts: Readonly<Record<string, unknown>>): unknown =>
  Object.fromEntries(
    Object.entries(texts).map(([key, value]) => {
      const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
      return [key, field ? fromText(field, value) : value];
    }),
  );
