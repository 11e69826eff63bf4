/** The maximum size of a part: a killed process loses no more bytes than that. */
export const PART_BYTES = 8 * 1024 * 1024;
/** A part of a slow body ends with the first bytes that arrive after this time, in milliseconds. */
const PART_MS = 5000;

/** A body that is stored in parts. */
export interface BodyParts {
  /** The next part, which has at least one byte; undefined at the end of the body. */
  next(): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** The error that ended the body before its end; what arrived before is in the parts. */
  failure(): unknown;
}

/** Divides a body into parts. A part must be read to its end before the next one. */
export const bodyParts = (body: AsyncIterable<Uint8Array>): BodyParts => {
  const chunks = body[Symbol.asyncIterator]();
  let held: Uint8Array | undefined;
  let failure: unknown;
  let hasEnded = false;

  const read = async (): Promise<Uint8Array | undefined> => {
    while (!hasEnded) {
      try {
        const { done, value } = await chunks.next();
        if (done) hasEnded = true;
        else if (value.length > 0) return value;
      } catch (error) {
        hasEnded = true;
        failure = error;
      }
    }
    return undefined;
  };

  const part = async function* (): AsyncGenerator<Uint8Array> {
    const end = Date.now() + PART_MS;
    for (let size = 0; size < PART_BYTES && Date.now() < end; ) {
      const chunk = held ?? (await read());
      held = undefined;
      if (!chunk) return;
      const room = PART_BYTES - size;
      if (chunk.length > room) held = chunk.subarray(room);
      const taken = chunk.subarray(0, room);
      size += taken.length;
      yield taken;
    }
  };

  return {
    async next() {
      held ??= await read();
      return held && part();
    },
    failure: () => failure,
  };
};
