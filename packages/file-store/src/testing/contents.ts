import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { ObjectId } from '../object-store.ts';

/** An object that no store has yet. */
export const newObject = (tenantId: string = randomUUID()): ObjectId => ({
  tenantId,
  id: randomUUID(),
});

/** Content in parts of the given size in bytes. */
export async function* inParts(content: Buffer, size = 1000): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}

/** Everything that a stream yields. */
export const bytesOf = async (stream: Readable): Promise<Buffer> =>
  Buffer.concat(await stream.toArray());
