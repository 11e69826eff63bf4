import { createCipheriv, createDecipheriv } from 'node:crypto';
import { type ByteRange, ObjectDamaged, type ObjectId } from './object-store.ts';
import { piecesOf } from './pieces.ts';

/**
 * Files are encrypted in chunks with AES-256-GCM, so that a range can be read without the rest. Each file has a
 * key of its own. The nonce of a chunk is its number and whether it is the last one: chunks cannot be swapped, and
 * a file that was cut off does not decrypt (the STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizar).
 */
const ALGORITHM = 'aes-256-gcm';

/** The bytes of a file in a chunk; the last chunk has fewer, and is empty if the file is empty. */
export const CHUNK = 64 * 1024;
const TAG = 16;
const SEALED_CHUNK = CHUNK + TAG;

const nonceOf = (index: number, isLast: boolean): Buffer => {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(index, 5, 6);
  nonce.writeUInt8(isLast ? 1 : 0, 11);
  return nonce;
};

const lastChunkOf = (size: number): number => Math.max(0, Math.ceil(size / CHUNK) - 1);

/** Encrypts a file with a key of 32 bytes that encrypts nothing else. */
export async function* encrypt(
  content: AsyncIterable<Uint8Array>,
  key: Buffer,
): AsyncGenerator<Buffer> {
  let index = 0;
  for await (const { piece, isLast } of piecesOf(content, CHUNK)) {
    const cipher = createCipheriv(ALGORITHM, key, nonceOf(index, isLast));
    yield Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
    index += 1;
  }
}

/** The size of an encrypted file in bytes. */
export const sealedSize = (size: number): number => size + (lastChunkOf(size) + 1) * TAG;

/** The range of an encrypted file that has a range of the file of `size` bytes. */
export const sealedRange = ({ start, end }: ByteRange, size: number): ByteRange => {
  const last = Math.min(Math.floor(end / CHUNK), lastChunkOf(size));
  return {
    start: Math.floor(start / CHUNK) * SEALED_CHUNK,
    end: Math.min((last + 1) * SEALED_CHUNK, sealedSize(size)) - 1,
  };
};

/** Which part of a file is decrypted. */
interface Part {
  readonly object: ObjectId;
  readonly range: ByteRange;
  /** The size of the whole file in bytes. */
  readonly size: number;
}

/** Decrypts one chunk. Throws if it was changed, or is not this chunk of the file. */
const decryptChunk = (chunk: Buffer, key: Buffer, nonce: Buffer): Buffer => {
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG });
  decipher.setAuthTag(chunk.subarray(-TAG));
  return Buffer.concat([decipher.update(chunk.subarray(0, -TAG)), decipher.final()]);
};

/**
 * Decrypts what `sealedRange` names to the range. Throws `ObjectDamaged` if a byte of it was changed, or if it was cut
 * off.
 */
export async function* decrypt(
  sealed: AsyncIterable<Uint8Array>,
  key: Buffer,
  { object, range: { start, end }, size }: Part,
): AsyncGenerator<Buffer> {
  const last = lastChunkOf(size);
  const wanted = Math.min(Math.floor(end / CHUNK), last);
  let index = Math.floor(start / CHUNK);
  for await (const { piece } of piecesOf(sealed, SEALED_CHUNK)) {
    let plain: Buffer;
    try {
      plain = decryptChunk(piece, key, nonceOf(index, index === last));
    } catch (error) {
      throw new ObjectDamaged(object, error);
    }
    const offset = index * CHUNK;
    yield plain.subarray(Math.max(0, start - offset), Math.max(0, end + 1 - offset));
    index += 1;
  }
  if (index <= wanted) throw new ObjectDamaged(object, new Error('It was cut off.'));
}
