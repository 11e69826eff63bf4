import type { FieldErrors } from '@tessera/fields';
import { HttpError, notFound, validationFailed } from '@tessera/http-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../http.ts';
import type { Versioned } from './records.ts';
import { isPreconditionFailed, preconditionFailed } from './versions.ts';

/** Something that is kept within a record, as one of a list in a JSON column. */
export type Part = { readonly id: string };

/** Gives an id to those that lack one; those whose id stands there before are a 422 that names them all. */
export const identified = <P extends { readonly id?: string }>(
  field: string,
  parts: readonly P[],
): (P & Part)[] => {
  const ids = new Set<string>();
  const errors: FieldErrors = {};
  const all = parts.map((part, i) => {
    const { id = uuidv7() } = part;
    const path = `${field}.${i}.id`;
    if (ids.has(id)) errors[path] = [`${path} is the id of another one in the list`];
    ids.add(id);
    return { ...part, id };
  });
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return all;
};

/** One of a record's parts, in the version of the record. */
export interface VersionedPart<P> {
  readonly part: P;
  readonly version: number;
}

/**
 * What can be done with one list of parts. A part that is not there is a 404, and `versions` are those of
 * the record: it is in a new one after each change of its parts.
 */
export interface Parts<P extends Part> {
  list(caller: Caller, id: string): Promise<readonly P[]>;
  show(caller: Caller, id: string, partId: string): Promise<VersionedPart<P>>;
  /** A list that is full is a 409. */
  add(
    caller: Caller,
    id: string,
    input: Omit<P, 'id'>,
    versions?: readonly number[],
  ): Promise<VersionedPart<P>>;
  change(
    caller: Caller,
    id: string,
    partId: string,
    change: Partial<Omit<P, 'id'>>,
    versions?: readonly number[],
  ): Promise<VersionedPart<P>>;
  remove(caller: Caller, id: string, partId: string, versions?: readonly number[]): Promise<void>;
}

/** The records that keep them. */
export interface Keepers<K extends string, P> {
  show(caller: Caller, id: string): Promise<Versioned<Kept<K, P>>>;
  change(
    caller: Caller,
    id: string,
    change: Partial<Kept<K, P>>,
    versions: readonly number[],
  ): Promise<Versioned<Kept<K, P>>>;
}

type Kept<K extends string, P> = { [F in K]: P[] };

interface Kind<K extends string> {
  /** The field of the record. */
  readonly field: K;
  /** One of them, as sentences say it. */
  readonly name: string;
  readonly max: number;
}

/** The parts that records of one kind keep in one of their fields. */
export const createParts = <K extends string, P extends Part>(
  { field, name, max }: Kind<K>,
  records: Keepers<K, P>,
): Parts<P> => {
  const partIn = (parts: readonly P[], partId: string): P => {
    const part = parts.find(({ id }) => id === partId);
    if (!part) throw notFound(`The ${name}`);
    return part;
  };

  /** The same list back: nothing changes. Who loses against another change begins again with its result. */
  const edit = async (
    caller: Caller,
    id: string,
    versions: readonly number[] | undefined,
    edited: (parts: P[]) => P[],
  ): Promise<Versioned<Kept<K, P>>> => {
    for (;;) {
      const { answer, version } = await records.show(caller, id);
      if (versions && !versions.includes(version)) throw preconditionFailed();
      const parts = edited(answer[field]);
      if (parts === answer[field]) return { id, answer, version };
      const change = { [field]: parts } as Kept<K, P>;
      try {
        return await records.change(caller, id, change, [version]);
      } catch (error) {
        if (!isPreconditionFailed(error)) throw error;
      }
    }
  };

  return {
    async list(caller, id) {
      return (await records.show(caller, id)).answer[field];
    },

    async show(caller, id, partId) {
      const { answer, version } = await records.show(caller, id);
      return { part: partIn(answer[field], partId), version };
    },

    async add(caller, id, input, versions) {
      const part = { ...input, id: uuidv7() } as P;
      const { version } = await edit(caller, id, versions, (parts) => {
        if (parts.length < max) return [...parts, part];
        throw new HttpError(409, 'conflict', `There are ${max} already, and no more can be kept.`);
      });
      return { part, version };
    },

    async change(caller, id, partId, change, versions) {
      const { answer, version } = await edit(caller, id, versions, (parts) => {
        const part = partIn(parts, partId);
        if (Object.keys(change).length === 0) return parts;
        return parts.map((other) => (other === part ? { ...part, ...change } : other));
      });
      return { part: partIn(answer[field], partId), version };
    },

    async remove(caller, id, partId, versions) {
      await edit(caller, id, versions, (parts) => {
        const part = partIn(parts, partId);
        return parts.filter((other) => other !== part);
      });
    },
  };
};
