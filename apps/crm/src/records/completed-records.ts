import type { KindTypes } from './kind.ts';
import type { Records, Versioned } from './records.ts';
import { type Changed, isShown } from './viewing.ts';

/** What completes the responses of records. */
export interface Completion<T extends KindTypes> {
  /** The same responses, in their order, with what the rows do not have. */
  complete<A extends T['answer'] | T['item']>(
    caller: T['caller'],
    answers: readonly A[],
  ): Promise<A[]>;
  /**
   * The revision for the entity tag. `own` is that of the record; include it if the kind has one. Default: that of the
   * record.
   */
  revisionOf?(answer: T['answer'], own: number | undefined): number;
}

/** The same records, whose responses are completed; also below a parent. */
export const completedRecords = <T extends KindTypes>(
  records: Records<T>,
  completion: Completion<T>,
): Records<T> => {
  type Answer = T['answer'];
  const { complete, revisionOf } = completion;

  const completeAll = async (
    caller: T['caller'],
    found: readonly Versioned<Answer>[],
  ): Promise<Versioned<Answer>[]> => {
    const answers = await complete<Answer>(
      caller,
      found.map(({ answer }) => answer),
    );
    return found.map((one, index) => {
      const answer = answers[index] as Answer;
      const revision = revisionOf ? revisionOf(answer, one.revision) : one.revision;
      return { ...one, answer, revision };
    });
  };

  const completeOne = async (
    caller: T['caller'],
    read: Promise<Versioned<Answer>>,
  ): Promise<Versioned<Answer>> => {
    const found = await read;
    const [one = found] = await completeAll(caller, [found]);
    return one;
  };

  const completeChanged = async (
    caller: T['caller'],
    changing: Promise<Changed<Answer>>,
  ): Promise<Changed<Answer>> => {
    const changed = await changing;
    return isShown(changed) ? completeOne(caller, Promise.resolve(changed)) : changed;
  };

  return {
    ...records,
    within: (...keys) => completedRecords(records.within(...keys), completion),
    get: (caller, id) => completeOne(caller, records.get(caller, id)),
    getMany: async (caller, ids) => completeAll(caller, await records.getMany(caller, ids)),
    create: (caller, input) => completeOne(caller, records.create(caller, input)),
    createMany: async (caller, inputs) =>
      completeAll(caller, await records.createMany(caller, inputs)),
    update: (caller, ...change) => completeChanged(caller, records.update(caller, ...change)),
    edit: (caller, ...change) => completeChanged(caller, records.edit(caller, ...change)),
    restore: (caller, ...change) => completeChanged(caller, records.restore(caller, ...change)),
    act: (caller, ...change) => completeChanged(caller, records.act(caller, ...change)),

    async list(caller, query) {
      const { rows, ...position } = await records.list(caller, query);
      return { ...position, rows: await complete(caller, rows) };
    },

    async *batches(caller, query, limited) {
      for await (const rows of records.batches(caller, query, limited)) {
        yield await limited(() => complete(caller, rows));
      }
    },
  };
};
