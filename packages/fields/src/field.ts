import type Joi from 'joi';

declare const out: unique symbol;

/** JSON Schema 2020-12, as OpenAPI 3.1 takes it. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/**
 * One declared value: what checks it (`joi`), what describes it (`json`) and what it yields (`Out`).
 * The two stand side by side because Joi's own JSON Schema misstates parts of what Joi checks;
 * a test holds them together.
 */
export interface Field<T = unknown, Absent extends boolean = boolean> {
  readonly joi: Joi.Schema;
  readonly json: JsonSchema;
  /** Whether the key may be missing in what is sent. */
  readonly absent: Absent;
  /** The same field without its default, for partial shapes. */
  readonly bare?: Field<T>;
  /** The same field that can neither be left out nor be null, for filters. */
  readonly value?: Field;
  readonly [out]?: T;
}

/** The TypeScript type that a field yields after its check. */
export type Out<F> = F extends { readonly [out]?: infer T } ? T : never;

export type Fields = Readonly<Record<string, Field>>;

type Show<T> = { [K in keyof T]: T[K] } & {};
type OptionalKeys<F> = {
  [K in keyof F]: F[K] extends OptionalField<unknown> ? K : never;
}[keyof F];

/** The object type that a set of fields yields. */
export type OutOf<F> = Show<
  { [K in Exclude<keyof F, OptionalKeys<F>>]: Out<F[K]> } & {
    [K in OptionalKeys<F>]?: Out<F[K]>;
  }
>;

declare const optional: unique symbol;

/** A field whose key may be missing in what it yields, too. */
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
