import { randomUUID } from 'node:crypto';
import { botTokens } from '../features/chat/bot-tokens.ts';
import { newSecret } from '../records/record-tokens.ts';
import { startCrm, type TestCrm } from '../testing/crm.ts';
import { keptLog } from '../testing/log-lines.ts';

const LIMIT = 3;
const WEBHOOK = '/api/crm/webhooks/bot';

const { logger, lines } = keptLog();

let crm: TestCrm;
let limited: TestCrm;
beforeAll(async () => {
  crm = await startCrm({}, { logger });
  const { database, identity } = crm.context.config;
  limited = await startCrm({
    DATABASE_URL: database.url,
    IDENTITY_URL: identity.url,
    KEY_ENCRYPTION_KEYS: '',
    SYSTEM_TOKENS: '',
    RATE_LIMIT_BOT: `${LIMIT}`,
  });
});
afterAll(async () => {
  await limited.stop();
  await crm.stop();
});

const newBot = async (): Promise<{ id: string; token: string }> => {
  const { body } = await crm.http
    .post('/api/crm/bots')
    .set(crm.caller())
    .send({ name: 'Builds' })
    .expect(201);
  return body.data;
};

const ask = (token: string | undefined, of: TestCrm = crm) =>
  of.http.get(WEBHOOK).set(token === undefined ? {} : { 'x-bot-token': token });

const changing = ['date', 'x-request-id', 'ratelimit', 'ratelimit-policy', 'x-ratelimit-remaining'];

test('Every wrong token gets the same response, which says nothing about the bot', async () => {
  const { id, token } = await newBot();
  const deleted = await newBot();
  await crm.http.delete(`/api/crm/bots/${deleted.id}`).set(crm.caller()).expect(204);
  const read = botTokens.read(token);
  const secret = read?.secret ?? '';
  const tenantId = crm.identity.acme.id;
  const wrong: Record<string, string | undefined> = {
    'the right bot with another secret': botTokens.write({ tenantId, id, secret: newSecret() }),
    'an unknown bot': botTokens.write({ tenantId, id: randomUUID(), secret }),
    'another tenant': botTokens.write({ tenantId: crm.identity.globex.id, id, secret }),
    'an unknown tenant': botTokens.write({ tenantId: randomUUID(), id, secret }),
    'a deleted bot': deleted.token,
    'no format': 'wrong',
    'a shorter token': token.slice(0, -1),
    'an empty token': '',
    'no token': undefined,
  };
  await ask(token).expect(200);
  const responses = await Promise.all(
    Object.entries(wrong).map(async ([what, presented]) => {
      const { status, text, headers } = await ask(presented);
      const kept = Object.entries(headers).filter(([name]) => !changing.includes(name));
      return [what, { status, text, headers: kept }] as const;
    }),
  );
  const [, first] = responses[0] ?? [];
  expect(first).toMatchObject({ status: 401, text: expect.stringContaining('unauthenticated') });
  for (const response of responses) expect(response).toEqual([response[0], first]);
});

test('The bots of a suspended tenant get that response as well, until it is active again', async () => {
  const clock = { ahead: 0 };
  const later = await startCrm({}, { clock: () => Date.now() + clock.ahead });
  try {
    const { body } = await later.http
      .post('/api/crm/bots')
      .set(later.caller())
      .send({ name: 'Builds' })
      .expect(201);
    const tenantId = later.identity.acme.id;
    const { text: wrong } = await ask('wrong', later).expect(401);
    await ask(body.data.token, later).expect(200);
    later.identity.suspend(tenantId);
    clock.ahead += 16_000;
    expect((await ask(body.data.token, later).expect(401)).text).toBe(wrong);
    later.identity.suspend(tenantId, false);
    clock.ahead += 16_000;
    await ask(body.data.token, later).expect(200);
  } finally {
    await later.stop();
  }
});

test('A bearer token does not open the webhook of bots, nor a bot token other routes', async () => {
  const { token } = await newBot();
  await crm.http.get(WEBHOOK).set(crm.caller()).expect(401);
  await crm.http.get(WEBHOOK).set(crm.system()).expect(401);
  for (const path of ['/api/crm/channels', '/api/crm/system/storage-usage']) {
    await crm.http.get(path).set({ 'x-bot-token': token }).expect(401);
  }
});

describe('Requests are limited by address and the public part of the token', () => {
  test('before authentication, whether or not the token is right', async () => {
    const [one, other] = [await newBot(), await newBot()];
    const guess = () =>
      ask(
        botTokens.write({ tenantId: crm.identity.acme.id, id: one.id, secret: newSecret() }),
        limited,
      );
    for (let left = LIMIT - 1; left >= 0; left -= 1) {
      const { headers } = await guess().expect(401);
      expect(headers).toMatchObject({
        'ratelimit-policy': expect.stringMatching(/"bot-keyed"; q=3; w=60/),
        'x-ratelimit-limit': '3',
        'x-ratelimit-remaining': `${left}`,
      });
    }
    const { body, headers } = await guess().expect(429);
    expect([body.error, Number(headers['retry-after']) > 0]).toEqual(['rate_limited', true]);
    await ask(one.token, limited).expect(429);
    await ask(other.token, limited).expect(200);
  });

  test('malformed tokens share one limit', async () => {
    for (let sent = 0; sent < LIMIT; sent += 1) await ask(`wrong-${sent}`, limited).expect(401);
    await ask('another', limited).expect(429);
  });
});

test('Tokens are neither logged nor part of metrics and errors', async () => {
  const { id, token } = await newBot();
  const secret = botTokens.read(token)?.secret ?? '';
  const { pool } = crm.context;
  const answers = [
    await ask(token),
    await ask(`${token}x`),
    await crm.http.post(WEBHOOK).set({ 'x-bot-token': token }).send({ body: 7 }),
    await crm.http.get(`${WEBHOOK}/messages/${token}`).set({ 'x-bot-token': token }),
  ];
  await pool.query('ALTER TABLE tenant_crm.channel_bots RENAME TO hidden_channel_bots');
  try {
    const failed = await ask(token);
    expect(failed.status).toBe(500);
    answers.push(failed);
  } finally {
    await pool.query('ALTER TABLE tenant_crm.hidden_channel_bots RENAME TO channel_bots');
  }
  const metrics = await crm.context.metrics.registry.metrics();
  expect(lines.join('')).toContain('getOwnBot');
  for (const told of [lines.join(''), metrics, ...answers.map(({ text }) => text)]) {
    expect(told).not.toContain(secret);
  }
  expect(answers.map(({ text }) => text.includes(id))).toEqual([true, false, false, false, false]);
});
