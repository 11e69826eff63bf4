import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Request, Response } from 'express';
import { hasBody } from '../has-body.ts';
import type { HttpError } from '../http-error.ts';
import { type BodyRoom, bodyBudget, noRoomForBody } from './body-budget.ts';
import { collect } from './collect.ts';

/** The errors of a kind of body. */
export interface BodyErrors {
  /** 413: the body has more bytes than it may have. */
  tooLarge(): HttpError;
  /** 400: the body is incomplete, or cannot be decompressed. */
  malformed(cause?: unknown): HttpError;
  /** 415: the body has an unknown content encoding, or may not have one. */
  unsupportedEncoding(): HttpError;
}

export interface ReadBytesOptions {
  /** The most bytes, also after decompression. */
  readonly limit: number;
  /** Whether the body may be compressed. */
  readonly inflates: boolean;
  readonly errors: BodyErrors;
}

/** A body in memory. */
export interface BodyInMemory {
  readonly bytes: Buffer;
  readonly room: BodyRoom;
}

/** Returns whose share of the memory for bodies a request takes; `mount` provides it. */
export type BodyKey = (req: Request, res: Response) => string;

const NOTHING = Buffer.alloc(0);

/** The content encodings of RFC 9110 section 8.4.1 and RFC 7932. */
const decoders = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;

const inflated = async (
  compressed: Buffer,
  encoding: keyof typeof decoders,
  { limit, errors }: ReadBytesOptions,
  room: BodyRoom,
): Promise<Buffer> => {
  const decoder = decoders[encoding]();
  decoder.end(compressed);
  try {
    return await collect(decoder, {
      limit,
      grow: room.grow,
      tooLarge: errors.tooLarge,
      incomplete: errors.malformed,
    });
  } finally {
    decoder.on('error', () => undefined).destroy();
  }
};

const isKnown = (encoding: string): encoding is keyof typeof decoders =>
  Object.hasOwn(decoders, encoding);

/**
 * Takes room for the body of a request, which is given back when its handler has ended (`whileHandled`), or its
 * response without one. Throws 503. `replace` is called if the
 * body has to give its room back before it has arrived.
 */
export const enterBudget = (req: Request, res: Response, replace: () => void): BodyRoom => {
  const { bodyKey } = res.locals as { readonly bodyKey?: BodyKey };
  const hasArrived = req.complete;
  const room = bodyBudget.enter(bodyKey?.(req, res) ?? '', {
    hasArrived,
    bytes: hasArrived ? req.readableLength : 0,
    replace,
  });
  res.locals.bodyRoom = room;
  const end = (): void => {
    if (!res.locals.isBodyHandled) room.leave();
  };
  if (res.destroyed || res.writableFinished) end();
  else res.once('close', end);
  return room;
};

/** Runs the handler of a request, which has the body until it has ended, even if the client disconnects. */
export const whileHandled = async (res: Response, handle: () => unknown): Promise<void> => {
  res.locals.isBodyHandled = true;
  try {
    await handle();
  } finally {
    (res.locals.bodyRoom as BodyRoom | undefined)?.leave();
  }
};

const arriving = async (
  req: Request,
  res: Response,
  { limit, errors }: ReadBytesOptions,
): Promise<BodyInMemory> => {
  const replaced = new AbortController();
  const room = enterBudget(req, res, () => replaced.abort(noRoomForBody()));
  const bytes = await collect(req, {
    // Node reads no more than the announced length.
    limit: Number(req.headers['content-length'] ?? limit),
    grow: room.grow,
    signal: replaced.signal,
    tooLarge: errors.tooLarge,
    incomplete: errors.malformed,
  });
  room.arrive();
  return { bytes, room };
};

/** A body that has arrived together with its headers, as small ones usually do. */
const arrived = (
  req: Request,
  res: Response,
  { limit, errors }: ReadBytesOptions,
): BodyInMemory => {
  if (req.readableLength > limit) throw errors.tooLarge();
  const room = enterBudget(req, res, () => undefined);
  return { bytes: req.read() ?? NOTHING, room };
};

/**
 * Reads the body of a request into memory, within the budget of the process and the share of its caller. A compressed body is decompressed after it has arrived, so that a slow one holds no
 * decompressor. Returns undefined without a body. Throws 413, 400, 415, and 503 if the share or the budget is exhausted.
 */
export const readBytes = async (
  req: Request,
  res: Response,
  options: ReadBytesOptions,
): Promise<BodyInMemory | undefined> => {
  if (!hasBody(req)) return undefined;
  const { limit, inflates, errors } = options;
  const encoding = req.headers['content-encoding']?.toLowerCase() ?? 'identity';
  const isPlain = encoding === 'identity';
  if (!isPlain && !(inflates && isKnown(encoding))) throw errors.unsupportedEncoding();
  if (Number(req.headers['content-length']) > limit) throw errors.tooLarge();
  if (req.destroyed) throw errors.malformed();
  const body = req.complete ? arrived(req, res, options) : await arriving(req, res, options);
  if (!isKnown(encoding) || body.bytes.length === 0) return body;
  return { ...body, bytes: await inflated(body.bytes, encoding, options, body.room) };
};
