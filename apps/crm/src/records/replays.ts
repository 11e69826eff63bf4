import type { Kind, KindTypes } from './kind.ts';
import type { Records } from './records.ts';

/** The keys of records as responses show them. */
export const keysOf = ({ key }: Pick<Kind, 'key'>, answers: readonly object[]): string[] =>
  answers.map((answer) => `${(answer as Readonly<Record<string, unknown>>)[key]}`);

/** The problem of a creation that is repeated; see `visibleReplay`. */
export const hiddenSince = {
  404: 'The caller does not see what an earlier request with the `Idempotency-Key` created, or it is gone',
};

/**
 * The `authorizeReplay` of a route that responds with one record: 404 if the caller does not see the record any more.
 * `recordsIn` gives the records among which the route looks.
 */
export const visibleReplay =
  <T extends KindTypes, Params>(
    kind: Pick<Kind, 'key'>,
    recordsIn: (params: Params) => Pick<Records<T>, 'requireVisible'>,
  ) =>
  (replay: {
    readonly caller: T['caller'];
    readonly params: Params;
    readonly response: unknown;
  }): Promise<void> => {
    const { data } = replay.response as { readonly data: object };
    return recordsIn(replay.params).requireVisible(replay.caller, keysOf(kind, [data]));
  };
