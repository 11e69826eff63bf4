import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { Writable } from 'node:stream';
import { createLogger, type Logger } from '@tessera/http-kit';
import { type SmtpServer, startSmtp, until } from '@tessera/local-stack';
import { identityDatabase, startIdentity, type TestIdentity } from '../testing/identity.ts';
import { type Mailbox, openMailbox } from '../testing/mailbox.ts';
import type { Mail } from './mails.ts';

const TOKEN = 'a-token-that-nobody-may-see';
const FROM = 'Tessera <no-reply@tessera.test>';

const reset = (to: string, locale = 'en'): Mail => ({
  kind: 'password_reset',
  to,
  locale,
  data: { firstName: 'Ada', token: TOKEN, lifetime: 3600 },
});

const send = ({ context }: TestIdentity, ...mails: Mail[]): Promise<void> =>
  context.database.$transaction(async (tx) => {
    for (const mail of mails) await context.mail.enqueue(tx, mail);
  });
const waiting = ({ context }: TestIdentity): Promise<number> => context.database.outboxMail.count();
const dropped = ({ context }: TestIdentity): Promise<string> =>
  context.metrics.registry.getSingleMetricAsString('mails_dropped_total');
/** Makes all mails pending a retry due. */
const hurry = async ({ context }: TestIdentity): Promise<void> => {
  await context.database.outboxMail.updateMany({ data: { nextAttemptAt: new Date(0) } });
};

const recorder = (): { lines: string[]; logger: Logger } => {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { lines, logger: createLogger('identity', 'info', sink) };
};

describe('through SMTP', () => {
  let smtp: SmtpServer;
  let identity: TestIdentity;
  const log = recorder();
  beforeAll(async () => {
    smtp = await startSmtp();
    const environment = { SMTP_URL: smtp.url, MAIL_FROM: FROM };
    identity = await startIdentity(environment, { logger: log.logger });
  });
  afterAll(async () => {
    await identity.stop();
    await smtp.stop();
  });
  beforeEach(() => smtp.refuse(null));

  test('a mail arrives as text and HTML, is marked as automated, and leaves the outbox', async () => {
    await send(identity, reset('ada@example.test'));
    await until(async () => (await waiting(identity)) === 0);
    const mail = smtp.received.at(-1);
    expect(mail).toMatchObject({
      subject: 'Choose a new password',
      from: { name: 'Tessera', address: 'no-reply@tessera.test' },
      to: [{ address: 'ada@example.test' }],
    });
    const header = (key: string) => mail?.headers.find((each) => each.key === key)?.value;
    expect(header('auto-submitted')).toBe('auto-generated');
    expect(mail?.messageId).toMatch(/^<[0-9a-f-]{36}@tessera\.test>$/);
    const link = `https://identity.test/password/reset?token=${TOKEN}&email=ada%40example.test`;
    expect(mail?.text).toContain(link);
    expect(mail?.html).toContain(`href="${link.replace('&', '&amp;')}"`);
  });

  test('a change that does not commit sends nothing', async () => {
    const { database, mail } = identity.context;
    const undone = database.$transaction(async (tx) => {
      await mail.enqueue(tx, reset('undone@example.test'));
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await waiting(identity)).toBe(0);
  });

  test('addresses in any script work, and a list of addresses is not accepted', async () => {
    await send(identity, reset('a@example.test, b@example.test'), reset('ü@bücher.test'));
    await until(() => smtp.recipients.includes('ü@bücher.test'));
    await until(async () => (await waiting(identity)) === 0);
    expect(smtp.recipients).not.toContain('b@example.test');
    expect(log.lines.join('')).toContain('a mail was refused and will not be retried');
    log.lines.length = 0;
  });

  test('a rejected mail is retried and delivered later, and the log contains neither address nor link', async () => {
    smtp.refuse({ code: 451, message: 'Try again later' });
    const before = smtp.refusals;
    await send(identity, reset('later@example.test'));
    await until(() => log.lines.some((line) => line.includes('it will be retried')));
    expect(smtp.refusals).toBe(before + 1);
    expect(await waiting(identity)).toBe(1);
    smtp.refuse(null);
    await hurry(identity);
    await until(async () => (await waiting(identity)) === 0);
    expect(smtp.recipients).toContain('later@example.test');
    const logged = log.lines.join('');
    expect(logged).toContain('"responseCode":451');
    expect(logged).not.toContain('later@example.test');
    expect(logged).not.toContain(TOKEN);
  });

  test('a mail that is refused for good is dropped, counted, and logged without its address', async () => {
    smtp.refuse({ code: 550, message: '5.1.1 No such user' });
    await send(identity, reset('nobody@example.test'));
    await until(async () => (await waiting(identity)) === 0);
    await until(async () => (await dropped(identity)).includes('{reason="refused"} 2'));
    expect(log.lines.at(-1)).toContain('a mail was refused and will not be retried');
    expect(log.lines.join('')).not.toContain('nobody@example.test');
  });
});

describe('without an SMTP server', () => {
  let mailbox: Mailbox;
  beforeEach(async () => {
    mailbox = await openMailbox();
  });
  afterEach(() => mailbox.remove());

  test('mails are written to MAIL_DIRECTORY, readable for one user, in the name of BRAND_NAME', async () => {
    const log = recorder();
    const identity = await startIdentity(
      { MAIL_DIRECTORY: mailbox.directory, BRAND_NAME: 'Acme & Co.' },
      { logger: log.logger },
    );
    await send(identity, reset('../ada@example.test', 'hu'));
    const mail = await mailbox.next('password_reset', '../ada@example.test');
    await identity.stop();
    expect(mail).toMatchObject({ subject: 'Új jelszó beállítása' });
    expect(mail.text).toContain('Acme & Co.');
    expect(mail.link.searchParams.get('token')).toBe(TOKEN);
    const names = await readdir(mailbox.directory);
    expect(names.map((name) => path.extname(name)).sort()).toEqual(['.html', '.txt']);
    for (const name of names) {
      expect((await stat(path.join(mailbox.directory, name))).mode & 0o777).toBe(0o600);
    }
    expect(log.lines.join('')).toContain(mailbox.directory);
    expect(log.lines.join('')).not.toContain(TOKEN);
  });

  test('without a directory they stay queued, encrypted, which is logged once', async () => {
    const log = recorder();
    const DATABASE_URL = await identityDatabase();
    const keys = { KEY_ENCRYPTION_KEYS: `k:${Buffer.alloc(32, 7).toString('base64')}` };
    const identity = await startIdentity({ DATABASE_URL, ...keys }, { logger: log.logger });
    await send(identity, reset('ada@example.test'), reset('bob@example.test'));
    const rows = await identity.context.database.outboxMail.findMany();
    const stored = rows.map(({ sealedMessage }) => Buffer.from(sealedMessage).toString('latin1'));
    expect(stored).toHaveLength(2);
    expect(stored.join('')).not.toMatch(/ada|example|token/);
    await identity.stop();
    expect(log.lines.filter((line) => line.includes('SMTP_URL'))).toHaveLength(1);

    // Queued mails are sent when a delivery is configured.
    const later = await startIdentity({ DATABASE_URL, ...keys, MAIL_DIRECTORY: mailbox.directory });
    await mailbox.next('password_reset', 'bob@example.test');
    await later.stop();
  });

  test('two replicas send each mail once', async () => {
    const environment = {
      DATABASE_URL: await identityDatabase(),
      KEY_ENCRYPTION_KEYS: `k:${Buffer.alloc(32, 7).toString('base64')}`,
      MAIL_DIRECTORY: mailbox.directory,
    };
    const replicas = await Promise.all([startIdentity(environment), startIdentity(environment)]);
    const to = Array.from({ length: 30 }, (_, index) => `reader-${index}@example.test`);
    await send(replicas[0] as TestIdentity, ...to.map((address) => reset(address)));
    await until(async () => (await waiting(replicas[0] as TestIdentity)) === 0);
    await Promise.all(replicas.map((replica) => replica.stop()));
    const files = (await readdir(mailbox.directory)).filter((name) => name.endsWith('.txt'));
    expect(files).toHaveLength(30);
    expect(await readFile(path.join(mailbox.directory, files[0] ?? ''), 'utf8')).toContain(TOKEN);
  });
});
