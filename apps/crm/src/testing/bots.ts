import type { Test } from 'supertest';
import type { ChatTenant } from './chat.ts';

type Headers = Readonly<Record<string, string>>;

/** A bot of a test's tenant, and requests with its token. */
export interface TestBot {
  readonly id: string;
  readonly token: string;
  get(path?: string): Test;
  post(body: object, path?: string, headers?: Headers): Test;
  put(path: string, body: object): Test;
  remove(path: string): Test;
}

export const WEBHOOK = '/api/crm/webhooks/bot';

/** Creates a bot and adds it to the channels with these paths. */
export const createBot = async (
  { crm, post }: Pick<ChatTenant, 'crm' | 'post'>,
  ...channels: readonly string[]
): Promise<TestBot> => {
  const { body } = await post('/api/crm/bots', { name: 'Builds' }).expect(201);
  const { id, token } = body.data;
  for (const channel of channels) await post(`${channel}/bots`, { bot_id: id }).expect(201);
  const own = { 'x-bot-token': token };
  return {
    id,
    token,
    get: (path = '') =>
      crm()
        .http.get(WEBHOOK + path)
        .set(own),
    post: (sent, path = '', headers = {}) =>
      crm()
        .http.post(WEBHOOK + path)
        .set({ ...own, ...headers })
        .send(sent),
    put: (path, sent) =>
      crm()
        .http.put(WEBHOOK + path)
        .set(own)
        .send(sent),
    remove: (path) =>
      crm()
        .http.delete(WEBHOOK + path)
        .set(own),
  };
};
