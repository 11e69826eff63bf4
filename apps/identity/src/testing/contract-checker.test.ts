import express from 'express';
import request from 'supertest';
import { createContractChecker } from './contract-checker.ts';

const id = '01890a5d-ac96-774b-bcce-b302099a8057';

const answered = async (path: string, body: object) => {
  const checker = createContractChecker();
  const app = express()
    .use((req, res, next) => checker.observe(req, res as never, next))
    .get(path, (_req, res) => {
      res.json(body);
    });
  await request(app).get(path).expect(200);
  return checker;
};

test('a response that services can parse is not a finding', async () => {
  const user = await answered('/api/user', { data: { id, tenants: [], name: 'Ada' } });
  const policies = await answered('/api/policies', { data: [], meta: { version: 1 } });
  for (const checker of [user, policies]) expect(() => checker.verify()).not.toThrow();
});

test.each([
  ['is refused', '/api/user', { data: { id, scopes: Array(1001).fill('*') } }, 'refuse'],
  ['loses a field', '/api/user', { data: { id, colour: 'red' } }, 'misread colour'],
  ['is changed', '/api/user', { data: { id: ` ${id}` } }, 'misread id'],
  ['has a strange deny', '/api/policies', { data: [{ action: 'x*', effect: 'deny' }] }, 'refuse'],
])('a response that %s is a finding', async (_what, path, body, message) => {
  const checker = await answered(path, { meta: { version: 1 }, ...body });
  expect(() => checker.verify()).toThrow(message);
});
