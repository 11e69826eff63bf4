import { shape, text } from '@tessera/fields';
import request from 'supertest';
import type { Idempotency, RepeatableResponse } from './index.ts';
import { appOf, type Caller, everything, route } from './testing/things.ts';

let steps: string[] = [];
const kept = new Map<string, RepeatableResponse>();
const idempotency: Idempotency<Caller> = {
  async once(_caller, { key }, work) {
    steps.push('transaction');
    const known = kept.get(key);
    const response = known ?? (await work());
    kept.set(key, response);
    return { response, isReplayed: known !== undefined };
  },
  isUsed: async (_caller, key) => kept.has(key),
};

const Name = shape({ name: text(20) });
const createThing = route({
  method: 'post',
  path: '/things',
  permission: 'things.update',
  summary: 'Create a thing',
  body: Name,
  responses: { 201: Name },
  async prepare({ name }) {
    steps.push(`prepare ${name}`);
  },
  handler: ({ body, reply }) => {
    steps.push('handler');
    return reply(201, body);
  },
});
const app = appOf({ Things: { createThing } }, { idempotency });

test('A route prepares before the transaction of an Idempotency-Key, and not for a response that is repeated', async () => {
  const create = async (headers: Record<string, string>): Promise<string[]> => {
    steps = [];
    const sent = request(app).post('/things').set('authorization', everything).set(headers);
    await sent.send({ name: 'a' }).expect(201);
    return steps;
  };
  expect(await create({})).toEqual(['prepare a', 'handler']);
  const key = { 'Idempotency-Key': 'one' };
  expect(await create(key)).toEqual(['prepare a', 'transaction', 'handler']);
  expect(await create(key)).toEqual(['transaction']);
});
