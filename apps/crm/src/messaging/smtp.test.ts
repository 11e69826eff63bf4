import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { freePort, type SmtpServer, startSmtp } from '@tessera/local-stack';
import { PublicTcp } from '@tessera/outbound-http';
import { generate } from 'selfsigned';
import type { DeliveryFailed } from './delivery-failed.ts';
import { createSmtp, type Smtp, type SmtpAccount } from './smtp.ts';

const credentials = { username: 'acme', password: 'a-secret-that-nobody-else-reads' };
const mail = { to: 'ada@example.test', subject: 'Hello', text: 'It works.' };

/** A certificate for smtp.acme.test, which is its own authority. */
const createCertificate = async (): Promise<{ key: string; cert: string }> => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'smtp.acme.test' }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'smtp.acme.test' }] }],
  });
  return { key, cert };
};

let smtp: Smtp;
let open: SmtpServer;
let guarded: SmtpServer;
let implicit: SmtpServer;
beforeAll(async () => {
  const tls = await createCertificate();
  smtp = createSmtp({ tcp, ca: tls.cert });
  open = await startSmtp();
  guarded = await startSmtp({ credentials, tls });
  implicit = await startSmtp({ credentials, tls: { ...tls, isImplicit: true } });
});
afterAll(async () => {
  for (const server of [open, guarded, implicit]) await server.stop();
});
beforeEach(() => {
  for (const server of [open, guarded, implicit]) server.refuse(null);
});

const tcp = new PublicTcp({
  allowedNetworks: ['127.0.0.0/8'],
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
});

const account = (port: number, settings: Partial<SmtpAccount> = {}): SmtpAccount => ({
  host: 'smtp.acme.test',
  port,
  security: 'starttls',
  from_address: 'support@acme.test',
  from_name: 'Acme',
  credentials,
  ...settings,
});

const failureOf = (sending: Promise<unknown>): Promise<DeliveryFailed> =>
  sending.then(
    () => {
      throw new Error('The mail was accepted.');
    },
    (error: DeliveryFailed) => error,
  );

test.each([
  ['STARTTLS', () => guarded, 'starttls'],
  ['TLS from the beginning', () => implicit, 'tls'],
] as const)(
  'A mail is sent with %s and the credentials of the account',
  async (_how, of, security) => {
    const { messageId } = await smtp.send(account(of().port, { security }), mail);
    expect(of().received.at(-1)).toMatchObject({
      messageId,
      from: { address: 'support@acme.test', name: 'Acme' },
      subject: 'Hello',
      text: expect.stringContaining('It works.'),
    });
    expect(of().recipients.at(-1)).toBe('ada@example.test');
  },
);

test('An account without security and credentials sends in clear text', async () => {
  const plain = account(open.port, { security: 'none', credentials: null, from_name: null });
  await smtp.send(plain, mail);
  expect(open.received.at(-1)?.from).toMatchObject({ address: 'support@acme.test' });
});

describe('A failure names its step and never a secret:', () => {
  test.each([
    ['wrong credentials', () => account(guarded.port, wrong), 'authentication', false],
    ['a server without STARTTLS', () => account(open.port), 'tls', false],
    [
      'a server that takes no credentials',
      () => account(open.port, plain),
      'authentication',
      false,
    ],
    [
      'a certificate for another host',
      () => account(guarded.port, { host: 'mx.test' }),
      'tls',
      false,
    ],
    ['an address as a host', () => account(guarded.port, { host: '10.0.0.1' }), 'address', false],
  ] as const)('%s', async (_what, of, step, isTemporary) => {
    const failure = await failureOf(smtp.send(of(), mail));
    expect(failure).toMatchObject({ name: 'DeliveryFailed', step, isTemporary });
    expect(JSON.stringify([failure, failure.message, failure.stack])).not.toContain('secret');
  });
  const wrong = { credentials: { username: 'acme', password: 'another-secret' } };
  const plain = { security: 'none' } as const;

  test('an unknown authority', async () => {
    const failure = await failureOf(createSmtp({ tcp }).send(account(guarded.port), mail));
    expect(failure).toMatchObject({ step: 'tls', isTemporary: false });
    const refused = account(implicit.port, { security: 'tls' });
    expect(await failureOf(createSmtp({ tcp }).send(refused, mail))).toMatchObject({ step: 'tls' });
  });

  test.each([
    [550, false],
    [450, true],
  ])('a recipient who is refused with %i', async (code, isTemporary) => {
    guarded.refuse({ code, message: '5.1.1 Unknown secret recipient' });
    const failure = await failureOf(smtp.send(account(guarded.port), mail));
    const reply = { code, detail: '5.1.1' };
    expect(failure).toMatchObject({ step: 'recipient', isTemporary, reply });
    expect(failure.message).not.toContain('secret');
  });

  test('a port where nobody listens', async () => {
    const failure = await failureOf(smtp.send(account(await freePort()), mail));
    expect(failure).toMatchObject({ step: 'connection', isTemporary: true });
  });

  test('a host without an address', async () => {
    const error = Object.assign(new Error('not found'), {
      code: 'ENOTFOUND',
      syscall: 'getaddrinfo',
    });
    const nowhere = new PublicTcp({ resolve: () => Promise.reject(error) });
    const failure = await failureOf(createSmtp({ tcp: nowhere }).send(account(25), mail));
    expect(failure).toMatchObject({ step: 'dns', isTemporary: false });
  });

  test('a server that never answers', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const impatient = createSmtp({ tcp, timeoutMs: 200 });
    const failure = await failureOf(impatient.send(account(port), mail));
    expect(failure).toMatchObject({ step: 'connection', isTemporary: true });
    silent.close();
  });
});
