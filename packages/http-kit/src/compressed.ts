import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { RequestHandler } from 'express';

/** Something that is the same for everybody as long as the process runs. */
export interface StaticContent {
  /** The media type, or its usual file extension. */
  readonly type: string;
  /** How long browsers and proxies may keep it: the value of `Cache-Control`. */
  readonly cacheControl: string;
  read(): Promise<Buffer> | Buffer;
}

type Encoder = (content: Buffer) => Promise<Buffer>;

/** In the order of preference. A higher quality would take seconds of a core and save some percent. */
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
 * Sends documents and assets compressed (Brotli, or else gzip) to clients that take it. Each is compressed
 * once, when it is first asked for: to compress every answer would let anybody keep all cores busy.
 *
 * Answers of the API and pages with forms are never compressed. They hold secrets (tokens, form tokens) beside
 * text that a request can choose, and the length of such an answer tells the secret (the BREACH attack); and
 * a list of records would cost more in compression than in everything else. A proxy in front may compress
 * what it knows to be harmless.
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
    // What cannot be read now may be read later.
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
