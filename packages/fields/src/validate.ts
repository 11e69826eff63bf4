import type { Field, Out, Shape } from './field.ts';

/** Messages by field path (`addresses.0.city`). */
export type FieldErrors = Record<string, string[]>;

export type Validation<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: FieldErrors };

/**
 * Checks a value against its field and gives what the field yields, or every failing path at once.
 * Nothing is converted: `"1"` is no number. `root` names the value itself in errors about the whole of it.
 */
export const validate = <F extends Field>(
  field: F,
  value: unknown,
  root = 'body',
): Validation<Out<F>> => {
  const result = (field.absent ? field.joi : field.joi.required()).validate(value, {
    abortEarly: false,
    convert: false,
    errors: { wrap: { label: false }, label: 'key' },
  });
  if (!result.error) return { ok: true, value: result.value };
  const errors: FieldErrors = {};
  for (const { path, message } of result.error.details) {
    const key = path.join('.') || root;
    errors[key] = [...(errors[key] ?? []), message.replace(/^value\b/, root)];
  }
  return { ok: false, errors };
};

const fromText = (field: Field, value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  const type = [field.json.type].flat()[0];
  if ((type === 'integer' || type === 'number') && /^-?\d{1,15}(\.\d+)?$/.test(value)) {
    return Number(value);
  }
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
      const field = shape.fields[key];
      return [key, field ? fromText(field, value) : value];
    }),
  );
