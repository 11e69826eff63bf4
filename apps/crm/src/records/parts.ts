import type { FieldErrors } from '@tessera/fields';
import { HttpError, notFound, validationFailed } from '@tessera/http-kit';
import { v7 as uuidv7 } from 'uuid';
import type { KindTypes } from './kind.ts';
import type { Records } from './records.ts';
import { isShown, RecordReference } from './viewing.ts';

/** An object in a list that a record stores in a JSON column. */
export type Part = { readonly id: string };

/** Adds missing ids to parts; throws a 422 that names every duplicate id. */
export const identified = <P extends { readonly id?: string }>(
  field: string,
  parts: readonly P[],
): (P & Part)[] => {
  const ids = new Set<string>();
  const errors: FieldErrors = {};
  const all = parts.map((part, i) => {
    const { id = uuidv7() } = part;
    const path = `${field}.${i}.id`;
    if (ids.has(id)) errors[path] = [`${path} must be unique in the list`];
    ids.add(id);
    return { ...part, id };
  });
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return all;
};

/** A part with the version of its record. */
export interface VersionedPart<P> {
  readonly part: P;
  readonly version: number;
}

/**
 * Operations on one list of parts. A missing part is a 404. Every change of a part is an update of the record: it
 * obeys the record's rules and creates a version. `versions` are versions of the record.
 */
export interface Parts<C, P extends Part> {
  list(caller: C, id: string): Promise<readonly P[]>;
  get(caller: C, id: string, partId: string): Promise<VersionedPart<P>>;
  /** 409 if the list is full. */
  create(
    caller: C,
    id: string,
    input: Omit<P, 'id'>,
    versions?: readonly number[],
  ): Promise<VersionedPart<P>>;
  update(
    caller: C,
    id: string,
    partId: string,
    change: Partial<Omit<P, 'id'>>,
    versions?: readonly number[],
  ): Promise<VersionedPart<P | RecordReference>>;
  delete(caller: C, id: string, partId: string, versions?: readonly number[]): Promise<void>;
}

/** The options of a list of parts. */
export interface PartsOptions<T extends KindTypes, P extends Part> {
  /** The field of the record that contains the parts. */
  readonly field: PartsField<T, P>;
  /** The name of one part in messages. */
  readonly name: string;
  /** The maximum number of parts in a record. */
  readonly max: number;
}

/** The names of a kind's fields that contain parts of this type. */
export type PartsField<T extends KindTypes, P extends Part> = {
  [F in keyof T['answer'] & keyof T['row'] & string]: T['answer'][F] extends P[] ? F : never;
}[keyof T['answer'] & keyof T['row'] & string];

/** The parts that records of a kind store in one of their fields. */
export const createParts = <T extends KindTypes, P extends Part>(
  { field, name, max }: PartsOptions<T, P>,
  records: Records<T>,
): Parts<T['caller'], P> => {
  const partsOf = (answer: T['answer'] | T['row']): P[] =>
    (answer as unknown as Record<string, P[]>)[field] ?? [];

  const findPart = (parts: readonly P[], partId: string): P => {
    const part = parts.find(({ id }) => id === partId);
    if (!part) throw notFound(`The ${name}`);
    return part;
  };

  /** Updates the record with another list, computed while the record is locked; the same list changes nothing. */
  const edit = (
    caller: T['caller'],
    id: string,
    versions: readonly number[] | undefined,
    edited: (parts: P[]) => P[],
  ) =>
    records.edit(
      caller,
      id,
      (row) => {
        const before = partsOf(row);
        const after = edited(before);
        return (after === before ? {} : { [field]: after }) as T['update'];
      },
      versions,
    );

  return {
    async list(caller, id) {
      return partsOf((await records.get(caller, id)).answer);
    },

    async get(caller, id, partId) {
      const { answer, version } = await records.get(caller, id);
      return { part: findPart(partsOf(answer), partId), version };
    },

    async create(caller, id, input, versions) {
      const part = { ...input, id: uuidv7() } as P;
      const { version } = await edit(caller, id, versions, (parts) => {
        if (parts.length < max) return [...parts, part];
        throw new HttpError(409, 'conflict', `The limit of ${max} has been reached.`);
      });
      return { part, version };
    },

    async update(caller, id, partId, change, versions) {
      let updated: P | undefined;
      const changed = await edit(caller, id, versions, (parts) => {
        const part = findPart(parts, partId);
        if (Object.keys(change).length === 0) {
          updated = part;
          return parts;
        }
        const replacement = { ...part, ...change };
        updated = replacement;
        return parts.map((other) => (other === part ? replacement : other));
      });
      const { version } = changed;
      const part = isShown(changed) ? updated : undefined;
      return { part: part ?? new RecordReference('id', partId, version), version };
    },

    async delete(caller, id, partId, versions) {
      await edit(caller, id, versions, (parts) => {
        const part = findPart(parts, partId);
        return parts.filter((other) => other !== part);
      });
    },
  };
};
