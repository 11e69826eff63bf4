import { int, shape } from '@tessera/fields';
import request from 'supertest';
import { empty, fileBody } from '../index.ts';
import { appOf, route } from '../testing/things.ts';

const PART = 'application/offset+octet-stream';
const headers = { 'Tus-Resumable': '1.0.0' } as const;

const app = appOf({
  Parts: {
    sendPart: route({
      method: 'patch',
      path: '/part',
      permission: 'public',
      summary: 'A part of a file',
      headers,
      body: fileBody({ types: [PART], maxBytes: 100, isPart: true }),
      responses: { 200: shape({ size: int(0, 1000) }) },
      handler: async ({ body: { content }, reply }) => {
        let size = 0;
        for await (const chunk of content) size += chunk.length;
        return reply(200, { size });
      },
    }),
    describeParts: route({
      method: 'options',
      path: '/part',
      permission: 'public',
      summary: 'What is supported',
      headers,
      responses: { 204: empty },
      handler: ({ reply }) => reply(204, { 'Tus-Version': '1.0.0' }),
    }),
  },
});

const send = (type: string, body: string) =>
  request(app).patch('/part').set('Content-Type', type).send(body);

describe('A part of a file', () => {
  test.each(['<html>', ''])('can have any content: %j', async (content) => {
    const { status, body } = await send(PART, content);
    expect([status, body]).toEqual([200, { size: content.length }]);
  });

  test('must have its media type, and is limited', async () => {
    await send('application/octet-stream', 'a').expect(415);
    await request(app).patch('/part').expect(415);
    await send(PART, 'x'.repeat(101)).expect(413);
  });
});

test('Errors also have the headers of the route', async () => {
  expect((await send(PART, 'a').expect(200)).headers['tus-resumable']).toBe('1.0.0');
  expect((await send('text/plain', 'a').expect(415)).headers['tus-resumable']).toBe('1.0.0');
});

test('A route for OPTIONS replaces the default response, and Allow lists OPTIONS once', async () => {
  const { headers: sent } = await request(app).options('/part').expect(204);
  expect(sent['tus-version']).toBe('1.0.0');
  const { headers: wrong } = await request(app).put('/part').expect(405);
  expect(wrong.allow).toBe('PATCH, OPTIONS');
});
