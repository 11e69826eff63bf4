import { once } from 'node:events';
import { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { ClamdAddress } from './address.ts';

/** What clamd found. */
export type Verdict =
  | { readonly status: 'clean' }
  /** `signature` is the name of what was found. */
  | { readonly status: 'infected'; readonly signature: string }
  /** The content exceeds a limit of clamd, for its size or the files in an archive, so the result is unknown. */
  | { readonly status: 'unscannable'; readonly reason: string };

export interface ClamdOptions {
  /** How long to wait for the connection, in milliseconds. Default 10,000. */
  readonly connectMs?: number;
  /**
   * How long clamd may neither accept bytes nor reply, in milliseconds. Default 180,000, because clamd itself ends a
   * scan after two minutes by default.
   */
  readonly idleMs?: number;
}

export interface Clamd {
  /**
   * Scans a content while it is read. Rejects if clamd cannot be reached, does not reply or fails, with the error of
   * the content, and if the signal is aborted; the same content can then be scanned again.
   */
  scan(content: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<Verdict>;
}

/** No reply of clamd is longer than the name of a signature and a few words. */
const MAX_REPLY = 10_000;

/** The frames of clamd's INSTREAM command: each chunk follows its length; a length of zero is the end. */
async function* framed(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer | Uint8Array> {
  yield Buffer.from('zINSTREAM\0');
  const length = (bytes: number): Buffer => {
    const frame = Buffer.alloc(4);
    frame.writeUInt32BE(bytes);
    return frame;
  };
  for await (const chunk of content) {
    if (chunk.length === 0) continue;
    yield length(chunk.length);
    yield chunk;
  }
  yield length(0);
}

type Written = (error?: Error | null) => void;

const unlessFailed =
  (written: Written): Written =>
  (error) => {
    if (!error) written();
  };

/**
 * A socket that stays readable after a write failed. clamd replies to a content that is too large and closes the
 * connection while bytes are still being sent; a plain socket would be destroyed by the failed write, with the reply
 * unread. What ends this one is the end of the connection, which always follows.
 */
class ReplySocket extends Socket {
  override _write(chunk: unknown, encoding: BufferEncoding, written: Written): void {
    super._write(chunk, encoding, unlessFailed(written));
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], written: Written): void {
    super._writev?.(chunks, unlessFailed(written));
  }
}

/** The reply, which ends with NUL. */
const replyOn = (socket: Socket): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\0');
      if (end >= 0) resolve(text.slice(0, end));
      else if (text.length > MAX_REPLY) reject(new Error('The reply of clamd does not end.'));
    });
    socket.on('error', reject);
    const closed = () => reject(new Error('clamd closed the connection without a reply.'));
    socket.on('end', closed);
    socket.on('close', closed);
  });

const verdictOf = (reply: string): Verdict => {
  if (reply === 'stream: OK') return { status: 'clean' };
  const [, signature] = /^stream: (.+) FOUND$/s.exec(reply) ?? [];
  if (signature?.startsWith('Heuristics.Limits.Exceeded')) {
    return { status: 'unscannable', reason: signature };
  }
  if (signature) return { status: 'infected', signature };
  if (reply.startsWith('INSTREAM size limit exceeded')) {
    return { status: 'unscannable', reason: 'INSTREAM size limit exceeded' };
  }
  throw new Error(`clamd could not scan: ${reply}`);
};

/** Scans with the clamd at the address, over a connection of its own for each content. */
export const createClamd = (
  address: ClamdAddress,
  { connectMs = 10_000, idleMs = 180_000 }: ClamdOptions = {},
): Clamd => ({
  async scan(content, signal) {
    signal?.throwIfAborted();
    const socket = new ReplySocket().connect(address);
    const limit = (ms: number, failure: string) =>
      socket.setTimeout(ms, () => socket.destroy(new Error(failure)));
    const abort = () => socket.destroy(signal?.reason);
    signal?.addEventListener('abort', abort);
    const reply = replyOn(socket);
    reply.catch(() => undefined);
    try {
      limit(connectMs, `clamd did not accept the connection within ${connectMs} ms.`);
      await once(socket, 'connect');
      socket.removeAllListeners('timeout');
      limit(idleMs, `clamd did not answer within ${idleMs} ms.`);
      const sent = pipeline(framed(content), socket, { end: false });
      // clamd replies early to a content that is too large.
      return verdictOf(await Promise.race([reply, sent.then(() => reply)]));
    } finally {
      signal?.removeEventListener('abort', abort);
      socket.destroy();
    }
  },
});
