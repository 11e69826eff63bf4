import { type Readable, Transform } from 'node:stream';
import type { Request, Response } from 'express';
import { noRoomForBody } from './body-budget.ts';
import { enterBudget } from './read-bytes.ts';

/** What a library keeps of each chunk besides its bytes: without this, chunks of one byte would count too little. */
const BYTES_OF_CHUNK = 256;

export interface CountedBodyOptions {
  /** The most bytes that the library keeps in memory; it skips or rejects what follows. */
  readonly limit: number;
  /** Creates the error for a client that disconnects. */
  readonly malformed: () => Error;
}

/**
 * The body of a request for a library that reads it into memory by itself, such as a parser of forms: its bytes count as those of
 * `readBytes` do. The stream has the headers of the request, and fails with a 503 if the share of the caller is exhausted.
 */
export const countedBody = (
  req: Request,
  res: Response,
  { limit, malformed }: CountedBodyOptions,
): Readable & Pick<Request, 'headers'> => {
  const room = enterBudget(req, res, () => body.destroy(noRoomForBody()));
  let counted = 0;
  const body: Transform = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = Math.min(chunk.length + BYTES_OF_CHUNK, limit - counted);
      counted += bytes;
      try {
        room.grow(bytes);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
    flush(done) {
      try {
        room.arrive();
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
  // The reader gets the error as well; without a listener, the process would end.
  body.on('error', () => req.unpipe(body).resume());
  const disconnected = (): void => {
    if (!req.complete) body.destroy(malformed());
  };
  req.once('close', disconnected);
  if (req.destroyed) disconnected();
  req.pipe(body);
  return Object.assign(body, { headers: req.headers });
};
