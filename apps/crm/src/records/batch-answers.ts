import { HttpError } from '@tessera/http-kit';
import type { KindTypes } from './kind.ts';
import type { Records } from './records.ts';
import type { Changed } from './viewing.ts';

/** How long the records in the response to a batch may be together: it is in memory several times. */
const MAX_BYTES = 32 * 1024 * 1024;

const tooLong = (): HttpError =>
  new HttpError(
    413,
    'body_too_large',
    `The records of the batch have more than ${MAX_BYTES} bytes. Send fewer operations at a time.`,
  );

const bytesOf = (answer: object): number => Buffer.byteLength(JSON.stringify(answer));

/** The same records for one batch. A change with which its response would become too long is a 413. */
export const limitedAnswers = <T extends KindTypes>(records: Records<T>): Records<T> => {
  let bytes = 0;
  const counted = <V extends readonly Changed<T['answer']>[]>(changed: V): V => {
    const together = changed.reduce((sum, { answer }) => sum + bytesOf(answer), bytes);
    if (together > MAX_BYTES) throw tooLong();
    bytes = together;
    return changed;
  };
  const countedOne = async <C extends Changed<T['answer']>>(changing: Promise<C>) => {
    const changed = await changing;
    counted([changed]);
    return changed;
  };
  return {
    ...records,
    create: (caller, input) => countedOne(records.create(caller, input)),
    createMany: async (caller, inputs) => counted(await records.createMany(caller, inputs)),
    update: (caller, ...change) => countedOne(records.update(caller, ...change)),
  };
};
