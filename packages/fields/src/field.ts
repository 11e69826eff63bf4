import type Joi from 'joi';

declare const out: unique symbol;

/** A schema of JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/**
 * A declared value: its validation (`joi`), its description (`json`) and its TypeScript type (`Out`). The first
 * two are written separately because Joi's own JSON Schema conversion misstates parts of what Joi checks; a
 * test keeps them consistent.
 */
export interface Field<T = unknown, Absent extends boolean = boolean> {
  readonly joi: Joi.Schema;
  readonly json: JsonSchema;
  /** Whether the key may be missing in the input. */
  readonly absent: Absent;
  /** The same field without its default, for partial shapes. */
  readonly bare?: Field<T>;
  /** The same field, required and not nullable, for filters. */
  readonly value?: Field;
  readonly [out]?: T;
}

/** The TypeScript type of a field's validated value. */
export type Out<F> = F extends { readonly [out]?: infer T } ? T : never;

export type Fields = Readonly<Record<string, Field>>;

type Show<T> = { [K in keyof T]: T[K] } & {};
type OptionalKeys<F> = {
  [K in keyof F]: F[K] extends OptionalField<unknown> ? K : never;
}[keyof F];

/** The object type of a set of fields. */
export type OutOf<F> = Show<
  { [K in Exclude<keyof F, OptionalKeys<F>>]: Out<F[K]> } & {
    [K in OptionalKeys<F>]?: Out<F[K]>;
  }
>;

declare const optional: unique symbol;

/** A field whose key may also be missing in the validated value. */
export interface OptionalField<T> extends Field<T, true> {
  readonly [optional]: true;
}

/** An object with exactly these fields. */
export interface Shape<F extends Fields = Fields> extends Field<OutOf<F>, false> {
  readonly fields: F;
}

export const field = <T>(joi: Joi.Schema, json: JsonSchema): Field<T, false> => ({
  joi,
  json,
  absent: false,
});
