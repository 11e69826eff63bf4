import { randomUUID } from 'node:crypto';
import { type Listening, listen } from '@tessera/http-kit';
import express from 'express';
import { type OpenApiDocument, type Operation, operationsOf } from './document.ts';
import { repeatedRequests, takesIdempotencyKey } from './idempotency.ts';
import type { Subject } from './subject.ts';

const createThing = {
  operationId: 'createThing',
  parameters: [{ $ref: '#/components/parameters/Idempotency-Key' }],
  requestBody: {
    content: {
      'application/json': {
        schema: { type: 'object', properties: { name: { type: 'string', maxLength: 50 } } },
      },
    },
  },
  responses: { 201: {} },
};
const document = {
  paths: { '/things': { post: createThing } },
  components: { schemas: {} },
} as unknown as OpenApiDocument;
const operation = operationsOf(document)[0] as Operation;

type Flaw = 'forgets keys' | 'replays without the header' | 'accepts a key for another request';

let listening: Listening;
const started = async (flaw?: Flaw): Promise<Subject> => {
  const kept = new Map<string, { sent: string; text: string }>();
  const app = express();
  app.use(express.json());
  app.post('/things', (req, res) => {
    const key = req.get('Idempotency-Key') ?? '';
    const sent = JSON.stringify(req.body);
    const known = flaw === 'forgets keys' ? undefined : kept.get(key);
    if (known && known.sent !== sent && flaw !== 'accepts a key for another request') {
      res.status(422).json({ error: 'idempotency_key_reused' });
      return;
    }
    const text = known?.text ?? JSON.stringify({ data: { id: randomUUID() } });
    kept.set(key, { sent, text });
    if (known && flaw !== 'replays without the header') res.set('Idempotent-Replayed', 'true');
    res.status(201).type('json').send(text);
  });
  listening = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  return { document, url: listening.url, caller: async () => ({}) };
};
afterEach(() => listening.stop(0));

test('A service that replays the responses to keys passes', async () => {
  expect(takesIdempotencyKey(operation)).toBe(true);
  expect(await repeatedRequests(await started(), operation)).toEqual([]);
});

test.each([
  ['forgets keys', 2],
  ['replays without the header', 1],
  ['accepts a key for another request', 1],
] as const)('A service that %s is detected', async (flaw, count) => {
  expect(await repeatedRequests(await started(flaw), operation)).toHaveLength(count);
});
