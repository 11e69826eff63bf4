#!/usr/bin/env node
// Accepts mails on port 1025 and serves them on port 8025 with the part of Mailpit's API that
// infra/verify-containers.mjs uses. `mail.mjs readyz` is the health check.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';

const KEPT = 500;

if (process.argv[2] === 'readyz') {
  const { ok } = await fetch('http://127.0.0.1:8025/readyz');
  process.exit(ok ? 0 : 1);
}

const messages = [];

const address = ({ name, address: of }) => ({ Name: name, Address: of });

const keep = async (stream) => {
  const { from, to = [], subject, text = '', html = '' } = await PostalMime.parse(stream);
  messages.unshift({
    ID: randomUUID(),
    From: address(from),
    To: to.map(address),
    Subject: subject,
    Created: new Date().toISOString(),
    Snippet: text.slice(0, 200),
    Text: text,
    HTML: html,
  });
  messages.length = Math.min(messages.length, KEPT);
};

const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onAuth: (_auth, _session, done) => done(null, { user: 'anybody' }),
  onData: async (stream, _session, done) => {
    const chunks = await stream.toArray();
    keep(Buffer.concat(chunks)).then(() => done(), done);
  },
});

const summary = ({ Text: _text, HTML: _html, ...shown }) => shown;

const answerTo = (path) => {
  if (path === '/livez' || path === '/readyz') return 'ok';
  if (path === '/api/v1/messages') {
    return {
      total: messages.length,
      count: messages.length,
      start: 0,
      messages: messages.map(summary),
    };
  }
  const [, id] = /^\/api\/v1\/message\/([^/]+)$/.exec(path) ?? [];
  return messages.find(({ ID }) => ID === id);
};

const http = createServer((request, response) => {
  const answer = answerTo(new URL(request.url, 'http://mail').pathname);
  response.writeHead(answer === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(answer ?? { Error: 'not found' }));
});

smtp.listen(1025, '0.0.0.0');
http.listen(8025, '0.0.0.0');
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
