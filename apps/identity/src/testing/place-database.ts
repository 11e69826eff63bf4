import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Value = string | number | readonly Value[] | { readonly [key: string]: Value };

const NODE_BYTES = 6;
const TREE_BITS = 128;

/** A value in the data section of a MaxMind DB (format 2.0); lengths below 285. */
const encoded = (value: Value): Buffer => {
  const control = (type: number, length: number): Buffer => {
    const [size, more] = length < 29 ? [length, []] : [29, [length - 29]];
    return Buffer.from(type < 8 ? [(type << 5) | size, ...more] : [size, type - 7, ...more]);
  };
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    return Buffer.concat([control(2, bytes.length), bytes]);
  }
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([control(6, 4), bytes]);
  }
  if (Array.isArray(value)) {
    return Buffer.concat([control(11, value.length), ...value.map(encoded)]);
  }
  const entries = Object.entries(value);
  return Buffer.concat([
    control(7, entries.length),
    ...entries.flatMap(([key, one]) => [encoded(key), encoded(one)]),
  ]);
};

/** The first bits of an IPv4 network, where IPv6 has it: at `::/96`. */
const bitsOf = (network: string): string => {
  const [address = '', length = '32'] = network.split('/');
  const bits = address.split('.').map((part) => Number(part).toString(2).padStart(8, '0'));
  return '0'.repeat(TREE_BITS - 32) + bits.join('').slice(0, Number(length));
};

/** A database of places in MaxMind DB format: what is recorded of IPv4 networks, by CIDR notation. */
export const placeDatabase = (records: Readonly<Record<string, Value>>): Buffer => {
  const nodes: [number | null, number | null][] = [[null, null]];
  const leaves: [node: number, side: 0 | 1, offset: number][] = [];
  const data: Buffer[] = [];
  let offset = 0;
  for (const [network, record] of Object.entries(records)) {
    const sides = [...bitsOf(network)].map((bit) => (bit === '1' ? 1 : 0));
    let at = 0;
    for (const side of sides.slice(0, -1)) {
      const node = nodes[at] as [number | null, number | null];
      node[side] ??= nodes.push([null, null]) - 1;
      at = node[side];
    }
    leaves.push([at, sides.at(-1) ?? 0, offset]);
    const bytes = encoded(record);
    data.push(bytes);
    offset += bytes.length;
  }
  const count = nodes.length;
  const tree = Buffer.alloc(count * NODE_BYTES);
  const write = (node: number, side: number, value: number) =>
    tree.writeUIntBE(value, node * NODE_BYTES + side * 3, 3);
  for (const [index, node] of nodes.entries()) {
    for (const side of [0, 1] as const) write(index, side, node[side] ?? count);
  }
  for (const [node, side, at] of leaves) write(node, side, count + 16 + at);
  const metadata = encoded({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    database_type: 'Test-City',
    description: { en: 'Places for tests' },
    ip_version: 6,
    languages: ['en', 'de'],
    node_count: count,
    record_size: 24,
  });
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
  return Buffer.concat([tree, Buffer.alloc(16), ...data, marker, metadata]);
};

/** A city as GeoLite2-City and DB-IP City Lite record it. */
export const city = (country: string, names: Readonly<Record<string, string>>): Value => ({
  country: { iso_code: country },
  city: { names },
});

export interface PlaceFile {
  readonly path: string;
  /** Puts another database, or anything else, in its place. */
  replace(content: Buffer): Promise<void>;
  remove(): Promise<void>;
}

export const placeFile = async (content: Buffer): Promise<PlaceFile> => {
  const directory = await mkdtemp(join(tmpdir(), 'places-'));
  const path = join(directory, 'places.mmdb');
  await writeFile(path, content);
  return {
    path,
    replace: (other) => writeFile(path, other),
    remove: () => rm(directory, { recursive: true }),
  };
};
