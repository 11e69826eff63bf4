import {
  either,
  type Field,
  type Fields,
  int,
  named,
  type Out,
  type Shape,
  shape,
} from '@tessera/fields';
import type { Caller } from '../http.ts';
import type { Kind, TenantCaller, Verb } from './kind.ts';
import type { Versioned } from './records.ts';
import { requirePermission } from './require-permission.ts';

/**
 * What a caller without the permission to view a record receives of one that the request did not create: its key and its
 * version (decision C25).
 */
export class RecordReference {
  /** No record has this, so that none is taken for a reference. */
  readonly #isReference = true;
  readonly version: number;

  constructor(key: string, value: string, version: number) {
    Object.assign(this, { [key]: value });
    this.version = version;
  }

  static is(answer: object): answer is RecordReference {
    return #isReference in answer;
  }
}

/** A record after a change, as far as the caller may view it. */
export type Changed<Answer> = Versioned<Answer | RecordReference>;

/** Whether the caller may view a record that they have changed. */
export const isShown = <Answer extends object>(
  changed: Changed<Answer>,
): changed is Versioned<Answer> => !RecordReference.is(changed.answer);

/** A changed record in a route that requires the permission to view it. */
export const shown = <Answer extends object>(changed: Changed<Answer>): Versioned<Answer> => {
  if (isShown(changed)) return changed;
  throw new TypeError('The route does not require the permission to view the record.');
};

/** A record that was read instead of changed, as far as the caller may view it. */
export const viewed = <Answer extends object>(
  kind: Pick<Kind, 'permissions'>,
  caller: TenantCaller & Partial<Pick<Caller, 'can'>>,
  found: Versioned<Answer>,
): Changed<Answer> => {
  if (mayDo('view', kind, caller)) return found;
  const { id, version } = found;
  return { id, version, answer: new RecordReference('id', id, version) };
};

/** Whether the caller has the permissions of a verb. Services and bots, whose routes require none, have all of them. */
export const mayDo = (
  verb: Verb,
  { permissions }: Pick<Kind, 'permissions'>,
  caller: TenantCaller & Partial<Pick<Caller, 'can'>>,
): boolean =>
  [permissions?.[verb] ?? []].flat().every((permission) => caller.can?.(permission) ?? true);

/** 403 unless the caller may view the records of a kind. */
export const requireView = (
  kind: Pick<Kind, 'permissions' | 'name'>,
  caller: TenantCaller,
): void => {
  for (const permission of [kind.permissions?.view ?? []].flat()) {
    requirePermission(caller as Caller, permission, { type: kind.name, id: null });
  }
};

const versionField = int(1, 2 ** 31 - 1);

/**
 * The field of a response with a record that the request did not create. `secrets` are shown to every caller. The
 * description of the route has `viewableText`.
 */
export const viewable = <A, const F extends Fields = Record<never, never>>(
  { key, keyField, permissions }: Pick<Kind, 'key' | 'keyField' | 'permissions'>,
  answer: Field<A>,
  secrets: F = {} as F,
): Field<A | (RecordReference & Out<Shape<F>>)> => {
  if (!permissions) return answer;
  const reference = shape({ [key]: keyField, version: versionField, ...secrets });
  const isPlain = key === 'id' && Object.keys(secrets).length === 0;
  return either(answer, isPlain ? named('RecordReference', reference) : reference) as never;
};

/** The sentence about `viewable` in the description of a route. */
export const viewableText = (
  { key, permissions }: Pick<Kind, 'key' | 'permissions'>,
  secrets: readonly string[] = [],
): string => {
  if (!permissions) return '';
  const needed = [permissions.view].flat().map((permission) => `\`${permission}\``);
  const fields = [key, ...secrets].map((field) => `\`${field}\``);
  return `Without ${needed.join(' and ')}, the response has only the ${fields.join(', the ')} and the \`version\` of the record.`;
};
