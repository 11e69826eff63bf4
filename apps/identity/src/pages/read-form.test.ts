import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { HttpError } from '@tessera/http-kit';
import express from 'express';
import { readForm } from './read-form.ts';

const PART =
  '--x\r\nContent-Disposition: form-data; name="picture"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n';

test.each([
  ['a file', 'a'.repeat(100), { status: 408, code: 'request_timeout' }],
  ['a file that is too large', 'a'.repeat(2000), { problem: { status: 422 } }],
])(
  'A form that does not arrive in time gives the place of %s to others',
  async (_what, content, expected) => {
    const app = express();
    app.post('/', async (req, res) => {
      const field = { name: 'picture', maxBytes: 1000, deadlineMs: 200 };
      const place = { read: buffer, leave: () => undefined };
      const error = await readForm(req, res, field, place).catch((thrown: HttpError) => thrown);
      res.json(error);
    });
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const sent = request({
      port,
      host: '127.0.0.1',
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    });
    sent.on('error', () => undefined).write(PART + content);
    const [answer] = await once(sent, 'response');
    expect(JSON.parse((await buffer(answer)).toString())).toMatchObject(expected);
    sent.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  },
);
