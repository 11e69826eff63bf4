import express from 'express';
import request from 'supertest';
import {
  createLimits,
  empty,
  errorHandler,
  mount,
  routesFor,
  tokenMatcher,
  unauthenticated,
  withCredentials,
} from './index.ts';
import { everything, gate } from './testing/things.ts';

interface Bot {
  readonly bot: string;
}

const isToken = tokenMatcher(['secret-1', 'secret-2']);
const route = routesFor<unknown, 'things.list'>();
const base = { method: 'get', summary: 'Route', responses: { 204: empty } } as const;

const appWith = (
  credential: string,
  limit = 100,
  permission: 'authenticated' | 'public' = 'authenticated',
) => {
  const limits = createLimits({
    classes: {
      default: { window: 60, address: 100, principal: 100 },
      webhook: {
        window: 60,
        address: 100,
        principal: 0,
        keyed: {
          limit,
          key: (req, address) => `${address}:${req.get('x-bot-token')?.slice(0, 4)}`,
        },
      },
    },
    principalKey: () => 'somebody',
  });
  const scheme = {
    name: 'bot',
    securitySchemes: { botToken: { type: 'apiKey', in: 'header', name: 'X-Bot-Token' } },
    authenticate: (req: express.Request): Bot => {
      if (isToken(req.get('x-bot-token') ?? '')) return { bot: 'b' };
      throw unauthenticated();
    },
  };
  const app = express();
  app.use(
    mount(
      {
        Routes: {
          getUsual: route({
            ...base,
            path: '/usual',
            permission: 'things.list',
            handler: ({ reply }) => reply(204),
          }),
          getBot: route({
            ...base,
            path: '/bot',
            permission,
            credential,
            limit: 'webhook',
            handler: ({ reply }) => reply(204),
          }),
        },
      },
      { gate: withCredentials(gate, [scheme]), limits, bodyLimit: 1000 },
    ),
    errorHandler({ render: ({ code }) => ({ error: code }) }),
  );
  const get = async (path: string, headers: Record<string, string>) =>
    (await request(app).get(path).set(headers)).status;
  return get;
};

test('a credential is accepted by the routes that name it and by no others', async () => {
  const get = appWith('bot');
  const usual = { authorization: everything };
  expect(await get('/bot', { 'x-bot-token': 'secret-1' })).toBe(204);
  expect(await get('/bot', { 'x-bot-token': 'secret-2' })).toBe(204);
  expect(await get('/usual', usual)).toBe(204);
  expect(await get('/usual', { 'x-bot-token': 'secret-1' })).toBe(401);
  expect(await get('/bot', usual)).toBe(401);
});

test.each(['', 'secret-', 'secret-11', 'SECRET-1'])('the token %j is 401', async (token) => {
  expect(await appWith('bot')('/bot', { 'x-bot-token': token })).toBe(401);
});

test('an app does not start if a route names an unknown credential, or a public route names any', () => {
  expect(() => appWith('robot')).toThrow('getBot: the gate has no credential called "robot".');
  expect(() => appWith('bot', 100, 'public')).toThrow('getBot: a public route cannot have');
});

test('a limit class can count by its own key, before authentication', async () => {
  const get = appWith('bot', 2);
  const wrong = { 'x-bot-token': 'aaaa-1' };
  expect(await get('/bot', wrong)).toBe(401);
  expect(await get('/bot', wrong)).toBe(401);
  expect(await get('/bot', { 'x-bot-token': 'aaaa-2' })).toBe(429);
  expect(await get('/bot', { 'x-bot-token': 'secret-1' })).toBe(204);
});
