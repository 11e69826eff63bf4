import { type ClientRequest, request } from 'node:http';
import { until } from '@tessera/local-stack';
import type { Tenant } from '../../generated/prisma/client.ts';
import { startIdentity } from '../../testing/identity.ts';
import { jpegOfSeveralScans, largePng, noise } from '../../testing/large-pictures.ts';
import type { Bearer } from '../../testing/population.ts';

const identity = await startIdentity();
afterAll(() => identity.stop());

const MEGABYTE = 1_000_000;

const signedIn = async (tenant?: Tenant): Promise<Bearer> =>
  identity.people.signIn(
    await identity.people.user({ tenant: tenant ?? (await identity.people.tenant()) }),
  );
const put = (bearer: Bearer, content: Buffer) =>
  identity.http.put('/api/profile/picture').set(bearer).type('image/png').send(content);

/** By how many bytes the memory of this process grows at most during the work, in which decoding uses other threads. */
const growthDuring = async (work: () => Promise<void>): Promise<number> => {
  const before = process.memoryUsage.rss();
  let most = before;
  const sample = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 2);
  try {
    await work();
  } finally {
    clearInterval(sample);
  }
  return most - before;
};

describe('a small file that would need much memory', () => {
  test.each<[string, () => Promise<Buffer> | Buffer]>([
    ['an interlaced PNG', () => largePng({ width: 7071, height: 7071, isInterlaced: true })],
    ['a PNG with long rows', () => largePng({ width: 1_000_000, height: 50 })],
    ['a JPEG with several scans', () => jpegOfSeveralScans(7071)],
    ['a WebP', () => noise(7071, 7071).webp({ lossless: true, effort: 0 }).toBuffer()],
    ['a GIF', () => noise(5000, 5000).gif({ effort: 1, colours: 2, dither: 0 }).toBuffer()],
  ])('is refused before it is decoded: %s', async (_name, make) => {
    const content = await make();
    const bearer = await signedIn();
    const grown = await growthDuring(async () => {
      const { status, body } = await put(bearer, content);
      expect(status).toBe(422);
      expect(body).toMatchObject({
        errors: { picture: [expect.any(String)] },
        max_pixels: 50_000_000,
        max_decoded_bytes: 100_000_000,
      });
    });
    expect(grown).toBeLessThan(60 * MEGABYTE);
  });

  test('is accepted without its texts, which are never expanded', async () => {
    const content = await largePng({ width: 64, height: 64, texts: 100 });
    const bearer = await signedIn();
    const grown = await growthDuring(async () => {
      await put(bearer, content).expect(200);
    });
    expect(grown).toBeLessThan(60 * MEGABYTE);
  });
});

test('The largest accepted pictures of several tenants take the memory of another process', async () => {
  const pictures = await Promise.all([
    largePng({ width: 3500, height: 3500, isInterlaced: true }),
    largePng({ width: 6000, height: 8300 }),
    jpegOfSeveralScans(3500),
    noise(5000, 4900).webp({ lossless: true, effort: 0 }).toBuffer(),
    noise(3500, 3500).gif({ effort: 1, colours: 2, dither: 0 }).toBuffer(),
    noise(7000, 7000).jpeg().toBuffer(),
  ]);
  const bearers = await Promise.all(pictures.map(() => signedIn()));
  const grown = await growthDuring(async () => {
    const answers = await Promise.all(
      pictures.map((content, i) => put(bearers[i] as Bearer, content)),
    );
    expect(answers.map(({ status }) => status)).toEqual(pictures.map(() => 200));
  });
  expect(grown).toBeLessThan(100 * MEGABYTE);
});

describe('an unfinished upload', () => {
  const open: ClientRequest[] = [];
  afterEach(() => {
    for (const one of open.splice(0)) one.destroy();
  });

  /** Sends the beginning of 10 MB; calls `answered` with the status once there is an answer. */
  const begin = (bearer: Bearer, answered: (status: number) => void): void => {
    const sent = request(`${identity.url}/api/profile/picture`, {
      method: 'PUT',
      headers: { ...bearer, 'content-type': 'image/png', 'content-length': 10 * 1024 * 1024 },
    });
    open.push(sent);
    sent.on('error', () => undefined);
    sent.on('response', (response) => {
      response.resume();
      answered(response.statusCode ?? 0);
    });
    sent.write(Buffer.concat([beginning, Buffer.alloc(64 * 1024)]));
  };
  let beginning: Buffer;
  let small: Buffer;
  beforeAll(async () => {
    small = await noise(20, 20).png().toBuffer();
    beginning = small.subarray(0, 100);
  });

  test('leaves no place for another one of the same account, which is told at once', async () => {
    const bearer = await signedIn();
    const statuses: number[] = [];
    for (let i = 0; i < 20; i += 1) begin(bearer, (status) => statuses.push(status));
    await until(async () => statuses.length === 19);
    expect(new Set(statuses)).toEqual(new Set([429]));
    const { status, body } = await put(bearer, small);
    expect(status).toBe(429);
    expect(body).toMatchObject({ error: 'too_many_uploads', max_uploads: 1 });
    await put(await signedIn(), small).expect(200);
    for (const one of open.splice(0)) one.destroy();
    await until(async () => (await put(bearer, small)).status === 200);
  });

  test('of many accounts of a tenant leaves memory for another tenant', async () => {
    const tenant = await identity.people.tenant();
    const accounts = await Promise.all(Array.from({ length: 6 }, () => signedIn(tenant)));
    const statuses: number[] = [];
    for (const bearer of accounts) begin(bearer, (status) => statuses.push(status));
    await until(async () => statuses.length === 4);
    expect(statuses).toEqual([503, 503, 503, 503]);
    await put(await signedIn(), small).expect(200);
  });
});
