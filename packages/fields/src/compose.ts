import Joi from 'joi';
import {
  type Field,
  type Fields,
  field,
  type JsonSchema,
  type OptionalField,
  type Out,
  type OutOf,
  type Shape,
} from './field.ts';
import { type FieldErrors, MAX_NAME_LENGTH } from './validate.ts';
import { rawText } from './words.ts';

// Joi's own array validates every item before it checks their number, which is slow for a million items.
const countedFirst: { array(): Joi.ArraySchema } = Joi.extend((joi) => ({
  type: 'array',
  base: joi.array(),
  validate: (value: unknown[], { schema, error }) => {
    const limit: number = schema.$_getRule('max')?.args?.limit;
    return value.length > limit ? { errors: error('array.max', { limit, value }) } : undefined;
  },
}));

/** The same for an object and its keys. */
const countedFirstObject: { object(): Joi.ObjectSchema } = Joi.extend((joi) => ({
  type: 'object',
  base: joi.object(),
  validate: (value: object, { schema, error }) => {
    const limit: number = schema.$_getRule('max')?.args?.limit;
    const isLarge =
      value !== null && typeof value === 'object' && Object.keys(value).length > limit;
    return isLarge ? { errors: error('object.max', { limit, value }) } : undefined;
  },
}));

/** Limits of a list. `unique` may be what items are compared by. */
interface ListOptions<T> {
  readonly max?: number;
  readonly min?: number;
  readonly unique?: boolean | ((item: T) => unknown);
}

/** Reports the first item whose key another one before it has. Joi's comparators make the keys of every pair. */
const distinctBy =
  <T>(keyOf: (item: T) => unknown): Joi.CustomValidator<T[]> =>
  (items, { error, state }) => {
    const seen = new Set<unknown>();
    const twice = items.findIndex((item) => {
      const key = keyOf(item);
      return seen.size === seen.add(key).size;
    });
    if (twice === -1) return items;
    return error('array.unique', undefined, { ...state, path: [...(state.path ?? []), twice] });
  };

/** A list of up to `max` values of one kind. */
export const list = <F extends Field>(
  item: F,
  { max = 100, min = 0, unique = false }: ListOptions<Out<F>> = {},
): Field<Out<F>[], false> => {
  const every = countedFirst.array().items(item.joi.optional()).min(min).max(max);
  const distinct = (): Joi.ArraySchema =>
    typeof unique === 'function' ? every.custom(distinctBy(unique)) : every.unique();
  return field(unique ? distinct() : every, {
    type: 'array',
    items: item.json,
    maxItems: max,
    ...(min > 0 && { minItems: min }),
    ...(unique && { uniqueItems: true }),
  });
};

/** Joi copies objects by assignment, which loses a key named "__proto__" before any check could reject it. */
const refuseProto: Joi.CustomValidator = (value, { original, error, state }) =>
  Object.hasOwn(original, '__proto__')
    ? error('object.unknown', undefined, { ...state, path: [...(state.path ?? []), '__proto__'] })
    : value;

const key = rawText(200);

/** An object with arbitrary keys whose values are of one kind. */
export const mapOf = <F extends Field>(item: F, max = 100): Field<Record<string, Out<F>>, false> =>
  field(countedFirstObject.object().max(max).pattern(key.joi, item.joi).custom(refuseProto), {
    type: 'object',
    propertyNames: key.json,
    additionalProperties: item.json,
    maxProperties: max,
  });

/** Messages by field path, as `validate` returns them. Names from the input can be anything, even empty. */
export const fieldErrors = (): Field<FieldErrors, false> =>
  field(Joi.object().pattern(Joi.string().allow(''), Joi.array().items(Joi.string())), {
    type: 'object',
    propertyNames: { maxLength: MAX_NAME_LENGTH },
    additionalProperties: { type: 'array', items: { type: 'string' } },
  });

/** The key may be missing, both in the input and in the validated value. */
export const optional = <F extends Field>(inner: F): OptionalField<Out<F>> => {
  const bare = inner.bare ?? inner;
  return { joi: bare.joi.optional(), json: bare.json, absent: true } as OptionalField<Out<F>>;
};

/** The key may be missing in the input; the validated value then has the default. */
export const withDefault = <F extends Field>(inner: F, value: Out<F>): Field<Out<F>, true> => ({
  joi: inner.joi.optional().default(value as Joi.Reference),
  json: { ...inner.json, default: value },
  absent: true,
  bare: inner as Field<Out<F>>,
});

const withNull = (json: JsonSchema): JsonSchema => {
  if (json.title !== undefined) return { anyOf: [json, { type: 'null' }] };
  if (Array.isArray(json.enum)) return { ...json, enum: [...json.enum, null] };
  return json.type === undefined ? json : { ...json, type: [json.type, 'null'] };
};

/** The value may be null. */
export const nullable = <F extends Field>(
  inner: F,
): F extends OptionalField<infer T> ? OptionalField<T | null> : Field<Out<F> | null, F['absent']> =>
  ({
    joi: inner.joi.allow(null),
    json: withNull(inner.json),
    absent: inner.absent,
    ...(inner.bare && { bare: nullable(inner.bare) }),
  }) as never;

/** The key may be left out. A text of white space alone counts as left out: scripts send it for an unset variable. */
export const omittedIfBlank = <F extends Field>(inner: F): OptionalField<Out<F>> => {
  const field = optional(inner);
  return {
    ...field,
    joi: field.joi.empty(Joi.string().allow('').pattern(/^\s*$/)),
    json: { anyOf: [field.json, { type: 'string', pattern: '^\\s*$' }] },
  };
};

/**
 * The usual shape of a response, or a lesser one for callers who may not receive it. Its JSON Schema is that of the usual one,
 * with the lesser one as `x-lesser`: a union would make all users of a generated client distinguish two types.
 */
export const either = <A, B>(usual: Field<A>, lesser: Field<B>): Field<A | B, false> =>
  field(Joi.alternatives(usual.joi, lesser.joi), { ...usual.json, 'x-lesser': lesser.json });

/** The key may be left out; null clears the field. */
export const clearable = <F extends Field>(inner: F): OptionalField<Out<F> | null> => ({
  ...(optional(nullable(inner)) as OptionalField<Out<F> | null>),
  value: inner.bare ?? inner,
});

const objectOf = (fields: Fields): { joi: Joi.ObjectSchema; json: JsonSchema } => {
  const entries = Object.entries(fields);
  return {
    joi: Joi.object(
      Object.fromEntries(entries.map(([k, f]) => [k, f.absent ? f.joi : f.joi.required()])),
    ),
    json: {
      type: 'object',
      properties: Object.fromEntries(entries.map(([k, f]) => [k, f.json])),
      required: entries.filter(([, f]) => !f.absent).map(([k]) => k),
    },
  };
};

/** An object with exactly these keys; any other key is an error. */
export const shape = <const F extends Fields>(fields: F): Shape<F> => {
  const { joi, json } = objectOf(fields);
  const strict = { ...json, additionalProperties: false };
  return { ...field<OutOf<F>>(joi.custom(refuseProto), strict), fields };
};

/** An object that may have additional keys, which are dropped. */
export const openShape = <const F extends Fields>(fields: F): Shape<F> => {
  const { joi, json } = objectOf(fields);
  // Joi's `stripUnknown` would also apply to nested shapes and make the strict ones lenient.
  const onlyKnown = (value: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(value).filter(([k]) => Object.hasOwn(fields, k)));
  return { ...field<OutOf<F>>(joi.unknown().custom(onlyKnown), json), fields };
};

/** The same object with every key optional and without defaults, for a partial `PUT`. */
export const partial = <F extends Fields>(
  of: Shape<F>,
): Shape<{ [K in keyof F]: OptionalField<Out<F[K]>> }> =>
  shape(
    Object.fromEntries(Object.entries(of.fields).map(([k, f]) => [k, optional(f)])),
  ) as unknown as Shape<{ [K in keyof F]: OptionalField<Out<F[K]>> }>;

/** The same object with every key required and without defaults, for the response to such an input. */
export const complete = <F extends Fields>(
  of: Shape<F>,
): Shape<{ [K in keyof F]: Field<Out<F[K]>, false> }> => {
  const present = ({ bare, ...own }: Field): Field<unknown, false> => ({
    joi: (bare ?? own).joi.required(),
    json: (bare ?? own).json,
    absent: false,
  });
  return shape(
    Object.fromEntries(Object.entries(of.fields).map(([k, f]) => [k, present(f)])),
  ) as unknown as Shape<{ [K in keyof F]: Field<Out<F[K]>, false> }>;
};

/**
 * Text with an additional rule that JSON Schema cannot express, reported together with all other errors.
 * `problem` returns the message that follows the field's name ("must be ..."), or undefined if the value is
 * valid.
 */
export const withRule = (
  inner: Field<string, false>,
  problem: (value: string) => string | undefined,
): Field<string, false> => ({
  ...inner,
  joi: (inner.joi as Joi.StringSchema).custom((value: string, { error }) => {
    const message = problem(value);
    return message === undefined ? value : error('rule.broken', { message });
  }),
});

/** Names a field's schema, so that documents define it once and refer to it. */
export const named = <F extends Field>(title: string, inner: F): F => ({
  ...inner,
  json: { title, ...inner.json },
});

/** Adds a description to a field's schema. */
export const described = <F extends Field>(
  inner: F,
  description: string,
  example?: unknown,
): F => ({
  ...inner,
  json: { ...inner.json, description, ...(example !== undefined && { examples: [example] }) },
});

/** A body that may be left out if all of its fields may be, which then have their defaults. */
export const omissible = <Body>(body: Shape & Field<Body>): Shape & Field<Body> => {
  if (!Object.values(body.fields).every(({ absent }) => absent)) return body;
  const defaults: object = body.joi.validate({}).value;
  return Object.assign({}, body, { joi: body.joi.optional().default(defaults), absent: true });
};
