import { violatedConstraint } from '@tessera/database-kit';
import { HttpError, invalidField } from '@tessera/http-kit';
import type { ConstraintMessage, Kind } from './kind.ts';

const SUFFIXES = {
  foreign_key: '_fkey',
  unique: '_key',
  exclusion: '_excl',
  check: '_check',
} as const;

type Violation = keyof typeof SUFFIXES;

/**
 * Constraint names have the form `<table>_<columns without tenant_id>_<suffix>` (migration `tenant_keys`). The
 * field is the input field at the end of the columns: `name` for `messaging_accounts_channel_name_key`.
 */
const fieldOf = ({ table, create, update }: Kind, constraint: string, kind: Violation): string => {
  const columns = constraint.slice(`${table}_`.length, -SUFFIXES[kind].length);
  const fields = Object.keys({ ...create.fields, ...update.fields });
  const matching = fields.filter((name) => columns === name || columns.endsWith(`_${name}`));
  return matching.sort((a, b) => b.length - a.length)[0] ?? columns;
};

const defaultMessages: Readonly<Record<Violation, (field: string, name: string) => string>> = {
  foreign_key: (field) =>
    `${field} must be the id of an existing ${field.replace(/_id$/, '').replaceAll('_', ' ')}`,
  unique: (field, name) => `${field} is already used by another ${name}`,
  exclusion: (field, name) => `${field} overlaps with another ${name}`,
  check: (field) => `${field} is out of range`,
};

const describe = (kind: Kind, constraint: string, violation: Violation): ConstraintMessage => {
  const own = kind.constraints[constraint];
  if (own) return own;
  const field = fieldOf(kind, constraint, violation);
  return { field, message: defaultMessages[violation](field, kind.name) };
};

/** Turns the violation of a foreign key by a deletion into a 409: other records still refer to the record. */
export const refuseRemoval =
  ({ name }: Kind) =>
  (error: unknown): never => {
    if (violatedConstraint(error)?.kind !== 'foreign_key') throw error;
    throw new HttpError(409, 'conflict', `Other records refer to the ${name}.`, { cause: error });
  };

/** Turns a constraint violation into a 422 that names the field; rethrows any other error. */
export const refuseViolation =
  (kind: Kind) =>
  (error: unknown): never => {
    const violated = violatedConstraint(error);
    if (!violated) throw error;
    if (violated.constraint === undefined) {
      throw new HttpError(409, 'conflict', 'The change conflicts with another record.', {
        cause: error,
      });
    }
    const { field, message } = describe(kind, violated.constraint, violated.kind);
    throw invalidField(field, message);
  };
