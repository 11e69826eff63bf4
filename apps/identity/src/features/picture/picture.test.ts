import sharp from 'sharp';
import type { User } from '../../generated/prisma/client.ts';
import { startIdentity } from '../../testing/identity.ts';
import type { Bearer } from '../../testing/population.ts';

const identity = await startIdentity();
afterAll(() => identity.stop());

const { issuer: ISSUER } = identity.context.config;

let user: User;
let bearer: Bearer;
beforeEach(async () => {
  user = await identity.people.user({ tenant: await identity.people.tenant() });
  bearer = await identity.people.signIn(user);
});

/** Two halves, the left one red and the right one blue. */
const halves = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: 'red' } }).composite([
    {
      input: {
        create: { width: width / 2, height, channels: 3, background: 'blue' },
      },
      left: width / 2,
      top: 0,
    },
  ]);

const put = (content: Buffer, type = 'image/png') =>
  identity.http.put('/api/profile/picture').set(bearer).type(type).send(content);
const remove = () => identity.http.delete('/api/profile/picture').set(bearer);
const pathOf = (address: string) => address.replace(ISSUER, '');
const get = (path: string) => identity.http.get(path);
const upload = async (content: Buffer, type?: string): Promise<string> =>
  pathOf((await put(content, type).expect(200)).body.data.avatar_url);
/** Red, green and blue of a pixel. */
const pixel = async (content: Buffer, left: number, top: number): Promise<number[]> => [
  ...(await sharp(content).extract({ left, top, width: 1, height: 1 }).raw().toBuffer()),
];

describe('PUT /api/profile/picture', () => {
  test.each(['png', 'jpeg', 'webp', 'gif'] as const)(
    'makes a square WebP in two sizes of a %s',
    async (format) => {
      const path = await upload(await halves(600, 300).toFormat(format).toBuffer());
      expect(path).toMatch(/^\/pictures\/[\w-]{43}\/256$/);
      for (const side of [256, 512]) {
        const { body } = await get(path.replace('256', `${side}`)).expect(200);
        const found = await sharp(body).metadata();
        expect([found.format, found.width, found.height]).toEqual(['webp', side, side]);
      }
    },
  );

  test('detects the type of a file by its content, not by its header', async () => {
    await put(await halves(20, 20).jpeg().toBuffer(), 'image/gif').expect(200);
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>';
    const tiff = await halves(20, 20).tiff().toBuffer();
    const cut = (await halves(600, 600).png().toBuffer()).subarray(0, 800);
    for (const content of [Buffer.from(svg), tiff, Buffer.from('GIF89a'), Buffer.from('<p>')]) {
      const { status, body } = await put(content, 'image/png');
      expect([status, body.error]).toEqual([415, 'unsupported_media_type']);
    }
    const answer = await put(cut, 'image/png');
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, ['picture']]);
  });

  test('rotates the picture upright and removes metadata', async () => {
    const content = await halves(400, 400)
      .jpeg()
      .withExif({ IFD0: { Copyright: 'Ada' }, IFD3: { GPSLatitude: '47/1 29/1 52/1' } })
      .withMetadata({ orientation: 6 })
      .toBuffer();
    const { body } = await get(await upload(content, 'image/jpeg')).expect(200);
    const { exif, icc, xmp, iptc, orientation } = await sharp(body).metadata();
    expect([exif, icc, xmp, iptc, orientation]).toEqual(Array(5).fill(undefined));
    // After a rotation to the right, the left half is at the top.
    const [above, below] = [await pixel(body, 128, 20), await pixel(body, 128, 236)];
    expect([(above[0] ?? 0) > 200, (below[2] ?? 0) > 200]).toEqual([true, true]);
  });

  test('rejects a small file with too many pixels', async () => {
    const bomb = await sharp({
      create: { width: 8000, height: 8000, channels: 3, background: 'red' },
    })
      .png()
      .toBuffer();
    expect(bomb.length).toBeLessThan(1_000_000);
    const answer = await put(bomb);
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, ['picture']]);
  });

  test('rejects bodies that are too large, of another type, compressed or missing', async () => {
    const large = await put(Buffer.alloc(10 * 1024 * 1024 + 1));
    expect([large.status, large.body.error]).toEqual([413, 'body_too_large']);
    expect((await put(Buffer.from('{}'), 'application/json')).status).toBe(415);
    const packed = identity.http.put('/api/profile/picture').set(bearer).type('image/png');
    expect((await packed.set('content-encoding', 'gzip').send(Buffer.from('x'))).status).toBe(415);
    const none = await identity.http.put('/api/profile/picture').set(bearer);
    expect([none.status, Object.keys(none.body.errors)]).toEqual([422, ['body']]);
  });

  test('updates the profile with one activity entry and one event', async () => {
    await upload(await halves(20, 20).png().toBuffer());
    const profile = await identity.http.get('/api/profile').set(bearer);
    expect(profile.body.data.avatar_url).toMatch(`${ISSUER}/pictures/`);
    const { database } = identity.context;
    const noted = { where: { userId: user.id, action: 'picture_changed' } };
    expect(await database.activityEntry.count(noted)).toBe(1);
    const told = { where: { key: user.id, topic: 'identity.user.updated' } };
    expect(await database.outboxEvent.count(told)).toBe(1);
  });

  test('takes one of several concurrent uploads', async () => {
    const content = await halves(20, 20).png().toBuffer();
    const answers = await Promise.all([put(content), put(content), put(content)]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toContain(200);
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
    const { avatarUrl } = await identity.context.database.user.findUniqueOrThrow({
      where: { id: user.id },
    });
    await get(pathOf(avatarUrl ?? '')).expect(200);
  });
});

describe('the URL of a picture', () => {
  test('needs no cookie, can be embedded by other origins and cached, and is never sniffed', async () => {
    const path = await upload(await halves(20, 20).png().toBuffer());
    const { headers } = await get(path).expect(200);
    expect(headers).toMatchObject({
      'content-type': 'image/webp',
      'cache-control': 'public, max-age=86400, immutable',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
    });
    expect(headers['set-cookie']).toBeUndefined();
  });

  test('stops working when the picture is replaced or removed', async () => {
    const content = await halves(20, 20).png().toBuffer();
    const first = await upload(content);
    const second = await upload(content);
    await get(first).expect(404);
    await get(second).expect(200);
    expect((await remove().expect(200)).body.data.avatar_url).toBeNull();
    await get(second).expect(404);
    await remove().expect(200);
    const noted = { where: { userId: user.id, action: 'picture_removed' } };
    expect(await identity.context.database.activityEntry.count(noted)).toBe(1);
  });

  test('is 404 with another key or size', async () => {
    const path = await upload(await halves(20, 20).png().toBuffer());
    const others = [
      path.replace('256', '128'),
      '/pictures/x/256',
      `/pictures/${'x'.repeat(43)}/256`,
    ];
    for (const other of others) expect([other, (await get(other)).status]).toEqual([other, 404]);
    const { headers } = await get('/pictures/x/256');
    expect(headers['cross-origin-resource-policy']).toBe('same-origin');
  });
});

test('an external picture URL is kept until it is replaced', async () => {
  const avatarUrl = 'https://elsewhere.test/ada.png';
  await identity.context.database.user.update({ where: { id: user.id }, data: { avatarUrl } });
  const { body } = await identity.http.get('/api/profile').set(bearer);
  expect(body.data.avatar_url).toBe(avatarUrl);
});

test('service accounts and clients have no picture', async () => {
  const { bearer: client } = await identity.people.application('*');
  const answer = await identity.http.delete('/api/profile/picture').set(client);
  expect([answer.status, answer.body.error]).toEqual([403, 'permission_denied']);
});
