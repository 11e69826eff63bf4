import { clamdAddress, createClamd } from './index.ts';
import { eicar, type RunningClamd, startClamd } from './testing/index.ts';

const MAX_BYTES = 1_000_000;

let clamd: RunningClamd;
beforeAll(async () => {
  clamd = await startClamd(new Map([['Eicar-Test', eicar]]), { maxBytes: MAX_BYTES });
});
afterAll(() => clamd.stop());

async function* parts(content: Buffer, size = 65_536): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}

test('ClamAV finds the test file, and nothing in other contents', async () => {
  const { scan } = createClamd(clamdAddress(clamd.url));
  expect(await scan(parts(eicar, 7))).toEqual({
    status: 'infected',
    signature: expect.stringContaining('Eicar-Test'),
  });
  expect(await scan(parts(Buffer.from('a harmless text')))).toEqual({ status: 'clean' });
  expect(await scan(parts(Buffer.alloc(0)))).toEqual({ status: 'clean' });
  expect(await scan(parts(Buffer.alloc(MAX_BYTES - 1)))).toEqual({ status: 'clean' });
});

test('A content beyond the limit of ClamAV is unscannable, whether the reply or a failed write is noticed first', async () => {
  const { scan } = createClamd(clamdAddress(clamd.url));
  const content = Buffer.alloc(20 * MAX_BYTES);
  for (let scans = 0; scans < 30; scans += 1) {
    expect(await scan(parts(content))).toMatchObject({ status: 'unscannable' });
  }
});
