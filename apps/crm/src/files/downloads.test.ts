import { Readable } from 'node:stream';
import { createDownloadShares } from './downloads.ts';

const content = async (): Promise<Readable> => Readable.from(['content']);
const tooMany = { status: 429, code: 'too_many_downloads', details: { downloads: 2 } };

test('One tenant has half of the downloads, until it has closed one', async () => {
  const count = createDownloadShares(4);
  const first = await count('noisy', 'member', content);
  await count('noisy', 'member', content);
  await expect(count('noisy', 'member', content)).rejects.toMatchObject(tooMany);
  await count('quiet', 'member', content);
  first.destroy();
  await new Promise((resolve) => first.once('close', resolve));
  await count('noisy', 'member', content);
});

test('A content that cannot be opened, and one that was read to its end, are not counted', async () => {
  const count = createDownloadShares(2);
  const failing = (): Promise<Readable> => Promise.reject(new Error('missing'));
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await expect(count('a', 'member', failing)).rejects.toThrow('missing');
  }
  for (let download = 0; download < 3; download += 1) {
    expect(await (await count('a', 'public', content)).toArray()).toEqual(['content']);
  }
});

test('Readers of what a tenant has made public leave its members their share', async () => {
  const count = createDownloadShares(4);
  for (let download = 0; download < 2; download += 1) await count('a', 'public', content);
  await expect(count('a', 'public', content)).rejects.toMatchObject(tooMany);
  await count('a', 'member', content);
});
