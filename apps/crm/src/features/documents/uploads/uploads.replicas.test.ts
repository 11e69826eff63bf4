import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnService, until } from '@tessera/local-stack';
import { crmDatabase, startCrm, type TestCrm, testEnvironment } from '../../../testing/crm.ts';
import { documentsPath } from '../../../testing/documents.ts';

const MIB = 1024 * 1024;
const uploadsPath = `${documentsPath}/uploads`;

let first: TestCrm;
let shared: Record<string, string>;
let own: Record<string, string>;
beforeAll(async () => {
  shared = {
    DATABASE_URL: await crmDatabase(),
    KEY_ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}`,
    FILE_STORE_PATH: join(tmpdir(), `crm-uploads-${process.pid}`),
  };
  first = await startCrm(shared);
  own = { ...first.caller(), 'Tus-Resumable': '1.0.0' };
});
afterAll(() => first.stop());

const beginAs = async (caller: Record<string, string>, size: number): Promise<string> => {
  const headers = { ...caller, 'Upload-Length': `${size}` };
  const response = await fetch(`${first.url}${uploadsPath}`, { method: 'POST', headers });
  return response.headers.get('Location') ?? '';
};

const begin = (size: number): Promise<string> => beginAs(own, size);

const offsetAt = async (url: string): Promise<number> => {
  const { headers } = await fetch(url, { method: 'HEAD', headers: own });
  return Number(headers.get('Upload-Offset'));
};

const patch = (
  url: string,
  offset: number,
  body: string | Buffer | ReadableStream,
  { headers = own, signal }: { headers?: Record<string, string>; signal?: AbortSignal } = {},
) =>
  fetch(url, {
    method: 'PATCH',
    headers: {
      ...headers,
      'Content-Type': 'application/offset+octet-stream',
      'Upload-Offset': `${offset}`,
    },
    body,
    duplex: 'half',
    ...(signal && { signal }),
  } as RequestInit);

const contentOf = async (response: Response): Promise<Buffer> => {
  const id = response.headers.get('Document-Id');
  const found = await fetch(`${first.url}${documentsPath}/${id}/download`, { headers: own });
  return Buffer.from(await found.arrayBuffer());
};

test('A replica continues an upload that another replica began', async () => {
  const second = await startCrm({ ...shared, IDENTITY_URL: first.identity.url });
  try {
    const url = await begin(6);
    expect((await patch(`${first.url}${url}`, 0, 'abc')).status).toBe(204);
    expect(await offsetAt(`${second.url}${url}`)).toBe(3);
    const completed = await patch(`${second.url}${url}`, 3, 'def');
    expect(completed.status).toBe(204);
    expect((await contentOf(completed)).toString()).toBe('abcdef');
  } finally {
    await second.stop();
  }
});

test('After a replica is killed during a request, the upload continues after its complete parts', async () => {
  const content = randomBytes(20 * MIB);
  const killed = spawnService('crm', {
    ...testEnvironment(shared.DATABASE_URL ?? '', first.identity.url),
    ...shared,
    LOG_LEVEL: 'info',
  });
  try {
    const address = await killed.ready();
    const url = await begin(content.length);
    const body = new ReadableStream({
      // The rest never comes.
      start: (controller) => controller.enqueue(content.subarray(0, 12 * MIB)),
    });
    const sent = patch(`${address}${url}`, 0, body).catch(() => 'cut');
    await until(async () => (await offsetAt(`${first.url}${url}`)) > 0);
    killed.child.kill('SIGKILL');
    expect(await sent).toBe('cut');
    const received = await offsetAt(`${first.url}${url}`);
    expect(received).toBe(8 * MIB);
    const completed = await patch(`${first.url}${url}`, received, content.subarray(received));
    expect(completed.status).toBe(204);
    expect(Buffer.compare(await contentOf(completed), content)).toBe(0);
  } finally {
    killed.child.kill('SIGKILL');
    await killed.ended;
  }
});

test('Parts of uploads over the limit of a caller or tenant are 429, until another upload is aborted', async () => {
  const limited = await startCrm({
    ...shared,
    IDENTITY_URL: first.identity.url,
    UPLOADS_PER_CALLER: '1',
    UPLOADS_PER_TENANT: '2',
  });
  const open = async (headers: Record<string, string>): Promise<AbortController> => {
    const url = await beginAs(headers, 3);
    const abort = new AbortController();
    const body = new ReadableStream({
      // The rest never comes.
      start: (controller) => controller.enqueue(Buffer.from('a')),
    });
    void patch(`${limited.url}${url}`, 0, body, { headers, signal: abort.signal }).catch(() => 0);
    return abort;
  };
  const refusedBy = async (headers: Record<string, string>): Promise<string> => {
    const url = await beginAs(headers, 1000);
    let refused: { limit?: string } = {};
    await until(async () => {
      const response = await patch(
        `${limited.url}${url}`,
        await offsetAt(`${first.url}${url}`),
        'a',
        {
          headers,
        },
      );
      if (response.status !== 429) return false;
      expect(response.headers.get('Retry-After')).toBe('10');
      refused = (await response.json()) as { limit?: string };
      return true;
    });
    return refused.limit ?? '';
  };
  try {
    const [bob, carol] = [first.caller(), first.caller()].map((headers) => ({
      ...headers,
      'Tus-Resumable': '1.0.0',
    }));
    if (!bob || !carol) throw new Error('There are not two callers.');
    const one = await open(own);
    expect(await refusedBy(own)).toBe('UPLOADS_PER_CALLER');
    await open(bob);
    expect(await refusedBy(carol)).toBe('UPLOADS_PER_TENANT');
    one.abort();
    const url = await beginAs(carol, 1);
    await until(
      async () => (await patch(`${limited.url}${url}`, 0, 'a', { headers: carol })).status === 204,
    );
  } finally {
    await limited.stop();
  }
});
