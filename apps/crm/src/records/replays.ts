import type { Kind, KindTypes } from './kind.ts';
import type { Records } from './records.ts';
import { acceptedVersions } from './versions.ts';
import { mayDo, RecordReference } from './viewing.ts';

/** The keys of records as responses show them. */
export const keysOf = ({ key }: Pick<Kind, 'key'>, answers: readonly object[]): string[] =>
  answers.map((answer) => `${(answer as Readonly<Record<string, unknown>>)[key]}`);

/** The problem of a creation that is repeated; see `visibleReplay`. */
export const hiddenSince = {
  404: 'The caller does not see what an earlier request with the `Idempotency-Key` created, or it is gone',
};

/** A stored response with one record. */
interface Replay<T extends KindTypes> {
  readonly caller: T['caller'];
  readonly response: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** A record in a stored response, as far as the caller may view it now. */
export const viewableData = <T extends KindTypes>(
  kind: Pick<Kind<T>, 'key' | 'permissions'>,
  caller: T['caller'],
  data: object,
  version: number,
): object => {
  if (mayDo('view', kind, caller)) return data;
  const [key = ''] = keysOf(kind, [data]);
  return new RecordReference(kind.key, key, version);
};

/**
 * The `authorizeReplay` of a route that responds with one record. What the request has created, which the response says with
 * `Location`, is shown again to callers who may not view it.
 */
export const viewableReplay =
  <T extends KindTypes>(kind: Pick<Kind<T>, 'key' | 'permissions'>) =>
  async ({ caller, response, headers }: Replay<T>): Promise<object | undefined> => {
    if (headers.Location !== undefined) return undefined;
    const { data } = response as { readonly data: object };
    const [version = 1] = acceptedVersions(headers.ETag) ?? [];
    return { data: viewableData(kind, caller, data, version) };
  };

/**
 * The body of a repeated request as `viewableReplay` gives it; 404 if the caller does not see the record any more. `recordsIn`
 * gives the records among which the route looks.
 */
export const visibleReplay =
  <T extends KindTypes, Params>(
    kind: Pick<Kind<T>, 'key' | 'permissions'>,
    recordsIn: (params: Params) => Pick<Records<T>, 'requireVisible'>,
  ) =>
  async (replay: Replay<T> & { readonly params: Params }): Promise<object | undefined> => {
    const { data } = replay.response as { readonly data: object };
    await recordsIn(replay.params).requireVisible(replay.caller, keysOf(kind, [data]));
    return viewableReplay(kind)(replay);
  };
