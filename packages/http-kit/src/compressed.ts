import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { RequestHandler } from 'express';

/** Content that is the same for every client and does not change while the process runs. */
export interface StaticContent {
  /** The media type, or a file extension that stands for it. */
  readonly type: string;
  /** The value of `Cache-Control`. */
  readonly cacheControl: string;
  read(): Promise<Buffer> | Buffer;
}

type Encoder = (content: Buffer) => Promise<Buffer>;

/** In order of preference. A higher Brotli quality would take seconds of CPU time to save a few percent. */
const encoders: readonly (readonly [encoding: string, encode: Encoder])[] = [
  [
    'br',
    (content) =>
      promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  ],
  ['gzip', (content) => promisify(gzip)(content)],
];

interface Variant {
  readonly content: Buffer;
  readonly etag: string;
}

/**
 * Serves static content compressed (Brotli or gzip) if the client accepts that. Each variant is compressed
 * once, when it is first requested: compressing every response would let any client keep all CPU cores busy.
 *
 * API responses and pages with forms are never compressed. They contain secrets (tokens, form tokens) next to
 * text that the request can choose, so the compressed length could reveal the secret (the BREACH attack).
 * Compressing a list of records would also cost more than everything else about the request. A proxy in front
 * may compress what is known to be safe.
 */
export const compressed = ({ type, cacheControl, read }: StaticContent): RequestHandler => {
  const variants = new Map<string, Promise<Variant>>();
  const make = async (encoding: string, encode: Encoder): Promise<Variant> => {
    const content = await encode(await read());
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 22);
    return { content, etag: `"${hash}-${encoding}"` };
  };
  const variant = (encoding: string, encode: Encoder): Promise<Variant> => {
    const known = variants.get(encoding);
    if (known) return known;
    const made = make(encoding, encode);
    variants.set(encoding, made);
    // Do not cache a failed read: the next request tries again.
    made.catch(() => variants.delete(encoding));
    return made;
  };
  const plain: Encoder = async (content) => content;
  return async (req, res) => {
    const [encoding, encode] = encoders.find(([name]) => req.acceptsEncodings(name)) ?? [
      'identity',
      plain,
    ];
    const { content, etag } = await variant(encoding, encode);
    if (encoding !== 'identity') res.set('Content-Encoding', encoding);
    res.set({ 'Cache-Control': cacheControl, ETag: etag }).vary('Accept-Encoding').type(type);
    res.send(content);
  };
};
