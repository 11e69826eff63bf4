import {
  anything,
  described,
  mapOf,
  named,
  nullable,
  oneOf,
  optional,
  shape,
} from '@tessera/fields';
import type { ActivityEntry, Prisma } from '../generated/prisma/client.ts';
import { actionOf } from './actions.ts';

/** A field before and after a change, as in the history of records of CRM. */
export interface Change {
  readonly from: unknown;
  readonly to: unknown;
  /** Set if the values are too long and only what fits of the difference is recorded. */
  readonly truncated?: true;
}

/** What changed, by field; a field of an object has a path such as `scaling.api.max_replicas`. */
export type Changes = Readonly<Record<string, Change>>;

/** Maximum length of a recorded value as JSON, so that lists of entries stay small. */
const MAX_LENGTH = 4000;

type Values = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** The values by path. */
const flattened = (values: Values, prefix = ''): [path: string, value: unknown][] =>
  Object.entries(values).flatMap(([name, value]): [string, unknown][] =>
    isObject(value) ? flattened(value, `${prefix}${name}.`) : [[prefix + name, value ?? null]],
  );

const textOf = (value: unknown): string => JSON.stringify(value) ?? 'null';

/** The items of a list that another one does not contain. */
const additional = (value: unknown, other: unknown): unknown => {
  if (!Array.isArray(value) || !Array.isArray(other)) return value;
  const known = new Set(other.map(textOf));
  return value.filter((item) => !known.has(textOf(item)));
};

/** As much of the beginning as fits. */
const shortened = (value: unknown): unknown => {
  if (textOf(value).length <= MAX_LENGTH) return value;
  if (!Array.isArray(value)) return String(value).slice(0, MAX_LENGTH);
  let length = 0;
  return value.filter((item) => {
    length += textOf(item).length + 1;
    return length < MAX_LENGTH;
  });
};

const changeOf = (from: unknown, to: unknown): Change => {
  if (textOf(from).length <= MAX_LENGTH && textOf(to).length <= MAX_LENGTH) return { from, to };
  return {
    from: shortened(additional(from, to)),
    to: shortened(additional(to, from)),
    truncated: true,
  };
};

/**
 * The fields of `after` that have another value in `before`; undefined if there are none. A missing value is null.
 * Secrets and hashes must not be among them. Of lists that are too long, only the items that differ are recorded, as far
 * as they fit.
 */
export const changesBetween = (before: Values, after: Values): Changes | undefined => {
  const previous = new Map(flattened(before));
  const changed = flattened(after).flatMap(([path, to]) => {
    const from = previous.get(path) ?? null;
    return textOf(from) === textOf(to) ? [] : [[path, changeOf(from, to)] as const];
  });
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
};

/** The fields of something that was created, or of something that was deleted. */
export const created = (values: Values): Changes | undefined => changesBetween({}, values);
export const deleted = (values: Values): Changes | undefined =>
  changesBetween(values, Object.fromEntries(Object.keys(values).map((name) => [name, null])));

/** Changes in answers. */
export const LoggedChanges = nullable(
  mapOf(
    named(
      'LoggedChange',
      shape({
        from: anything(),
        to: anything(),
        truncated: described(
          optional(oneOf(true)),
          'Set if the values are too long: then they contain only the difference, as far as it fits',
        ),
      }),
    ),
    1000,
  ),
);

/** Changes as they are stored, which `note` wrote. */
export const presentChanges = (stored: Prisma.JsonValue): Changes | null =>
  stored as unknown as Changes | null;

/** Changes in the log of the user who made them, without those that are about another person. */
export const ownChanges = ({
  action,
  subjectId,
  changes,
}: Pick<ActivityEntry, 'action' | 'subjectId' | 'changes'>): Changes | null =>
  subjectId !== null && actionOf(action)?.isPersonal ? null : presentChanges(changes);
