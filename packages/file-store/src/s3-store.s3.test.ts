import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type S3Server, startS3 } from '@tessera/local-stack';
import { createS3Store } from './s3-store.ts';
import { bytesOf, inParts, newObject, testObjectStore } from './testing/index.ts';

let s3: S3Server;
beforeAll(async () => {
  s3 = await startS3();
});
afterAll(() => s3.stop());

const storeIn = (
  options: { readonly bucket?: string; readonly prefix?: string; readonly endpoint?: string } = {},
) =>
  createS3Store({
    endpoint: options.endpoint ?? s3.endpoint,
    bucket: options.bucket ?? s3.bucket,
    region: 'eu-central-1',
    prefix: options.prefix ?? `${randomUUID()}/`,
    forcePathStyle: true,
    credentials: s3.credentials,
    timeoutMs: 10_000,
  });

testObjectStore('S3', async () => storeIn());

test('A bucket that does not exist is an error at the start, not a missing file', async () => {
  const store = storeIn({ bucket: 'other' });
  await expect(store.prepare()).rejects.toThrow();
  await expect(store.requireExisting()).rejects.toThrow();
  await expect(store.read(newObject())).rejects.toMatchObject({ name: 'NoSuchBucket' });
});

test('Files of another prefix and other files in the bucket are not listed', async () => {
  const prefix = `${randomUUID()}/`;
  const [outer, inner] = [storeIn({ prefix }), storeIn({ prefix: `${prefix}inner/` })];
  const object = newObject();
  await inner.write(object, inParts(Buffer.from('a')));
  expect(await outer.list({ limit: 10 })).toEqual({ objects: [], next: undefined });
  expect((await inner.list({ limit: 10 })).objects).toMatchObject([object]);
});

test('Deleting an object also deletes the parts of an interrupted upload', async () => {
  const store = storeIn();
  const object = newObject();
  const { S3Client, CreateMultipartUploadCommand } = await import('@aws-sdk/client-s3');
  const client = new S3Client({
    endpoint: s3.endpoint,
    region: 'eu-central-1',
    forcePathStyle: true,
    credentials: s3.credentials,
  });
  const prefix = `${randomUUID()}/`;
  const interrupted = storeIn({ prefix });
  const Key = `${prefix}${object.tenantId}/${object.id.slice(-2)}/${object.id}`;
  await client.send(new CreateMultipartUploadCommand({ Bucket: s3.bucket, Key }));
  expect((await interrupted.listUnfinished({ limit: 10 })).objects).toMatchObject([object]);
  expect((await store.listUnfinished({ limit: 10 })).objects).toEqual([]);
  await interrupted.delete(object);
  expect((await interrupted.listUnfinished({ limit: 10 })).objects).toEqual([]);
});

test('A write whose response is lost succeeds when it is repeated; an object of another write stays', async () => {
  let isLost = true;
  const proxy = createServer((req, res) => {
    const { hostname, port } = new URL(s3.endpoint);
    const { method, url: path, headers } = req;
    const upstream = request({ hostname, port, method, path, headers }, (response) => {
      if (method === 'PUT' && isLost) {
        isLost = false;
        response.resume().once('end', () => req.destroy());
        return;
      }
      res.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(res);
    });
    req.pipe(upstream);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  try {
    const store = storeIn({ endpoint });
    const object = newObject();
    const content = Buffer.from('hello');
    await store.write(object, inParts(content));
    expect(isLost).toBe(false);
    expect(await bytesOf(await store.read(object))).toEqual(content);
    await expect(store.write(object, inParts(content))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 412 },
    });
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
});

test('While the service is down, requests fail and nothing is lost', async () => {
  const store = storeIn();
  const [object, other] = [newObject(), newObject()];
  await store.write(object, inParts(Buffer.from('kept')));
  await s3.kill();
  await expect(store.read(object)).rejects.toThrow('ECONNREFUSED');
  await expect(store.head(object)).rejects.toThrow('ECONNREFUSED');
  await expect(store.delete(object)).rejects.toThrow('ECONNREFUSED');
  await expect(store.write(other, inParts(Buffer.from('lost')))).rejects.toThrow('ECONNREFUSED');
  await s3.restart();
  expect(String(await bytesOf(await store.read(object)))).toBe('kept');
  expect(await store.head(other)).toBeUndefined();
});
