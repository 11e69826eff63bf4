import { once } from 'node:events';
import { crc32, createDeflate } from 'node:zlib';
import sharp from 'sharp';

const chunk = (type: string, data: Buffer): Buffer => {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), data.length + 8);
  return bytes;
};

/** Compresses zeros without having all of them in memory. */
const compressedZeros = async (length: number): Promise<Buffer> => {
  const deflate = createDeflate({ level: 9 });
  const compressed: Buffer[] = [];
  deflate.on('data', (part: Buffer) => compressed.push(part));
  const zeros = Buffer.alloc(1024 * 1024);
  for (let left = length; left > 0; left -= zeros.length) {
    if (!deflate.write(zeros.subarray(0, Math.min(left, zeros.length)))) {
      await once(deflate, 'drain');
    }
  }
  deflate.end();
  await once(deflate, 'end');
  return Buffer.concat(compressed);
};

/** The first column and row, and the distances, of the passes of an interlaced PNG (section 8.2). */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;
const ALL_AT_ONCE = [[0, 0, 1, 1]] as const;

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

export interface LargePng {
  readonly width: number;
  readonly height: number;
  readonly isInterlaced?: boolean;
  /** Compressed texts, of 7 MB each. */
  readonly texts?: number;
}

/** A black PNG with 16 bits for each of four channels. */
export const largePng = async ({
  width,
  height,
  isInterlaced = false,
  texts = 0,
}: LargePng): Promise<Buffer> => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([16, 6, 0, 0, isInterlaced ? 1 : 0], 8);
  let length = 0;
  for (const [x, y, dx, dy] of isInterlaced ? PASSES : ALL_AT_ONCE) {
    const columns = Math.ceil((width - x) / dx);
    if (columns > 0) length += Math.ceil((height - y) / dy) * (1 + columns * 8);
  }
  const text = texts > 0 ? await compressedZeros(7_000_000) : Buffer.alloc(0);
  const keyword = (i: number) => Buffer.from(`text ${i}\0\0`, 'latin1');
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    ...Array.from({ length: texts }, (_, i) => chunk('zTXt', Buffer.concat([keyword(i), text]))),
    chunk('IDAT', await compressedZeros(length)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};

const NOISE_SIDE = 512;

/** A picture that no palette and no repetition makes small in memory. */
export const noise = (width: number, height: number) => {
  const raw = Buffer.alloc(NOISE_SIDE * NOISE_SIDE * 4);
  // A multiplicative generator, so that the picture is the same each time.
  for (let i = 0, seed = 1; i < raw.length; i += 1, seed = (seed * 48_271) % 0x7fffffff)
    raw[i] = (seed >> 8) & 0x0f;
  return sharp(raw, { raw: { width: NOISE_SIDE, height: NOISE_SIDE, channels: 4 } }).resize(
    width,
    height,
    { kernel: 'nearest', fit: 'fill' },
  );
};

const segment = (marker: number, data: readonly number[]): Buffer =>
  Buffer.from([0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 0xff, ...data]);

/** A grey JPEG of four channels that are sent one after the other, for which a decoder keeps all of them in memory. */
export const jpegOfSeveralScans = (side: number): Buffer => {
  const channels = [1, 2, 3, 4];
  const sides = [side >> 8, side & 0xff, side >> 8, side & 0xff];
  // One code, of one bit: no difference from the block before.
  const codes = (table: number) => [table, 1, ...Array(16).fill(0)];
  const blocks = Math.ceil(side / 8) ** 2;
  const scan = (channel: number) => [
    segment(0xda, [1, channel, 0, 0, 63, 0]),
    Buffer.alloc(Math.ceil(blocks / 4)),
  ];
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xdb, [0, ...Array(64).fill(1)]),
    segment(0xc0, [8, ...sides, channels.length, ...channels.flatMap((id) => [id, 0x11, 0])]),
    segment(0xc4, codes(0)),
    segment(0xc4, codes(0x10)),
    ...channels.flatMap(scan),
    Buffer.from([0xff, 0xd9]),
  ]);
};
