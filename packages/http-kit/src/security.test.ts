import request from 'supertest';
import { securityHeaders } from './index.ts';
import { appOf, everything, things } from './testing/things.ts';

const app = appOf({ Things: things }, {}, securityHeaders());

test('a response cannot be run, framed, sniffed or stored', async () => {
  const { headers } = await request(app).get('/things').set('authorization', everything);
  expect(headers).toMatchObject({
    'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'strict-transport-security': expect.stringContaining('max-age='),
  });
});
