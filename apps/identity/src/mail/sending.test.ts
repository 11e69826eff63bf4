import { until } from '@tessera/local-stack';
import { startHousekeeping } from '../background/housekeeping.ts';
import { commandsOf } from '../testing/commands.ts';
import { identityDatabase, startIdentity, type TestIdentity } from '../testing/identity.ts';
import { type ScriptedSmtp, startScriptedSmtp } from '../testing/scripted-smtp.ts';
import type { Mail } from './mails.ts';
import { PLACES, SHARE } from './places.ts';

let smtp: ScriptedSmtp;
let identities: TestIdentity[] = [];
beforeEach(async () => {
  smtp = await startScriptedSmtp();
});
afterEach(async () => {
  // Ends what the server does not answer.
  await smtp.stop();
  for (const identity of identities) await identity.stop();
  identities = [];
});

const start = async (environment: Readonly<Record<string, string>> = {}): Promise<TestIdentity> => {
  const mail = { SMTP_URL: `smtp://127.0.0.1:${smtp.port}`, MAIL_FROM: 'no-reply@tessera.test' };
  const identity = await startIdentity({ ...mail, ...environment });
  identities.push(identity);
  return identity;
};

const reset = (to: string, lifetime = 3600): Mail => ({
  kind: 'password_reset',
  to,
  locale: 'en',
  data: { firstName: 'Ada', token: 'secret', lifetime },
});
const numbered = (count: number, domain: string): Mail[] =>
  Array.from({ length: count }, (_, index) => reset(`reader-${index}@${domain}`));
const send = ({ context }: TestIdentity, ...mails: Mail[]): Promise<void> =>
  context.database.$transaction(async (tx) => {
    for (const mail of mails) await context.mail.enqueue(tx, mail);
  });
const rows = ({ context }: TestIdentity) => context.database.outboxMail.findMany();
const isSentTo = (address: string) => () => smtp.recipients.includes(address);
const metric = async ({ context }: TestIdentity, name: string): Promise<number> => {
  const text = await context.metrics.registry.getSingleMetricAsString(name);
  return Number(text.trim().split(' ').at(-1));
};

describe('a domain whose servers do not answer', () => {
  const silent = (command: string) => (/@silent/.test(command) ? 'silence' : '250 ok');

  test('has half of the places, so that a mail to another domain is sent at once', async () => {
    const identity = await start();
    smtp.reply({ RCPT: silent });
    await send(identity, ...numbered(30, 'silent.test'));
    await until(() => smtp.recipients.length === SHARE);
    await send(identity, reset('ada@example.test'));
    await until(() => smtp.messageIds.length === 1);
    expect(smtp.recipients).toHaveLength(SHARE + 1);
  });

  test('leaves a place together with another one, so that a mail to a third domain is sent at once', async () => {
    const identity = await start();
    smtp.reply({ RCPT: silent });
    await send(identity, ...numbered(30, 'silent-a.test'), ...numbered(30, 'silent-b.test'));
    await until(() => smtp.recipients.length > SHARE);
    await send(identity, reset('ada@example.test'));
    await until(() => smtp.messageIds.length === 1);
    expect(smtp.recipients.length).toBeLessThanOrEqual(PLACES);
    expect(smtp.recipients.filter((address) => /@silent/.test(address)).length).toBeLessThan(
      PLACES,
    );
  });

  test('gets no further attempt for a while, and no mail to it loses one', async () => {
    const identity = await start();
    smtp.reply({ RCPT: (command) => (/@silent/.test(command) ? 'cut' : '250 ok') });
    await send(identity, ...numbered(30, 'silent.test'));
    await until(async () => {
      const waiting = await rows(identity);
      const tried = waiting.filter(({ attempts }) => attempts > 0);
      return (
        tried.length === smtp.recipients.length &&
        waiting.every(({ nextAttemptAt }) => nextAttemptAt.getTime() > Date.now() + 30_000)
      );
    });
    expect(smtp.recipients.length).toBeLessThanOrEqual(2 * SHARE);

    // One mail finds out whether it answers again.
    smtp.reply({ RCPT: silent });
    const before = smtp.recipients.length;
    await send(identity, ...numbered(3, 'silent.test'), reset('ada@example.test'));
    await until(() => smtp.messageIds.length === 1 && smtp.recipients.length > before + 1);
    expect(smtp.recipients.slice(before).sort()).toEqual([
      'ada@example.test',
      expect.stringMatching('@silent.test'),
    ]);
  });
});

test('domains take turns, whatever the case and the script of an address', async () => {
  // Without a mail server, nothing claims them.
  const identity = await start({ SMTP_URL: '' });
  const many = ['silent.TEST', 'Silent.test'].flatMap((domain) => numbered(20, domain));
  await send(identity, ...many, reset('ü@bücher.test'), reset('a@xn--bcher-kva.test'));
  const domains = new Set((await rows(identity)).map(({ recipientDomain }) => recipientDomain));
  expect([...domains].sort()).toEqual(['silent.test', 'xn--bcher-kva.test']);
  const claimed = await identity.context.mail.claim(10, 4, { 'silent.test': 1 });
  expect(claimed.map(({ domain }) => domain).sort()).toEqual([
    ...Array(3).fill('silent.test'),
    ...Array(2).fill('xn--bcher-kva.test'),
  ]);
});

describe('while the mail server is unavailable', () => {
  test('no mail loses an attempt, and all are sent once it is back', async () => {
    const identity = await start();
    smtp.reply({ banner: '421 stopping' });
    await send(identity, ...numbered(30, 'example.test'));
    await until(() => smtp.connections >= 3);
    // At the beginning, all places; then one mail at a time.
    expect(smtp.connections).toBeLessThan(30);
    await until(async () => (await rows(identity)).every(({ attempts }) => attempts === 0));
    smtp.reply({});
    await until(async () => (await rows(identity)).length === 0);
    expect(new Set(smtp.messageIds).size).toBe(30);
    expect(smtp.messageIds).toHaveLength(30);
  });

  test('it is down in the health of services, and the metrics say since when', async () => {
    const identity = await start();
    const { people } = identity;
    const caller = await people.signIn(await people.user({ data: { isSystemAdmin: true } }));
    const health = async (): Promise<string> => {
      const { body } = await identity.http.get('/api/service-health').set(caller).expect(200);
      const services: { name: string; status: string }[] = body.data.services;
      return services.find(({ name }) => name === 'mail')?.status ?? '';
    };
    smtp.reply({ banner: '421 stopping' });
    expect(await health()).toBe('up');
    await send(identity, reset('ada@example.test'));
    await identity.context.database.outboxMail.updateMany({
      data: { nextAttemptAt: new Date(Date.now() - 90_000) },
    });
    await until(async () => (await health()) === 'down');
    await until(async () => (await metric(identity, 'mails_overdue_seconds')) > 80);
    expect(await metric(identity, 'mails_waiting')).toBe(1);
    smtp.reply({});
    await until(async () => (await health()) === 'up');
    await until(async () => (await metric(identity, 'mails_waiting')) === 0);
  });
});

describe('a mail waits', () => {
  test('as long as its link works, or for seven days, however often it was tried', async () => {
    const identity = await start();
    const dueAt = new Date(Date.now() + 3 * 86_400_000);
    smtp.reply({ banner: '421 stopping' });
    await send(
      identity,
      reset('hour@example.test'),
      reset('month@example.test', 30 * 86_400),
      { kind: 'account_deleted', to: 'week@example.test', locale: 'en', data: { firstName: 'A' } },
      {
        kind: 'account_deletion_reminder',
        to: 'due@example.test',
        locale: 'en',
        data: { firstName: 'A', timeZone: 'UTC', dueAt },
      },
    );
    const hours = (await rows(identity)).map(({ expiresAt }) =>
      Math.round((expiresAt.getTime() - Date.now()) / 3_600_000),
    );
    expect(hours.sort((a, b) => a - b)).toEqual([1, 72, 168, 168]);

    smtp.reply({ RCPT: '451 later' });
    await until(async () => (await rows(identity)).every(({ attempts }) => attempts === 1));
    const data = { attempts: 100, nextAttemptAt: new Date(0) };
    await identity.context.database.outboxMail.updateMany({ data });
    await until(async () => (await rows(identity)).every(({ attempts }) => attempts === 101));
    await until(async () =>
      (await rows(identity)).every(({ nextAttemptAt }) => {
        const minutes = (nextAttemptAt.getTime() - Date.now()) / 60_000;
        return minutes > 55 && minutes < 61;
      }),
    );
  });

  test('and is then dropped and counted instead of sent', async () => {
    const identity = await start();
    await send(identity, reset('late@example.test', -1), reset('ada@example.test'));
    await until(isSentTo('ada@example.test'));
    const { pool, logger, config: retention } = identity.context;
    const expired: number[] = [];
    const onExpiredMails = (mails: number): void => void expired.push(mails);
    const housekeeping = startHousekeeping({ pool, logger, retention, onExpiredMails });
    await housekeeping.sweep();
    await housekeeping.stop();
    expect(expired).toEqual([1]);
    expect(smtp.recipients).not.toContain('late@example.test');
  });
});

test('an administrator sees what waits by domain, and sends it now', async () => {
  const identity = await start();
  const run = commandsOf(identity);
  smtp.reply({ RCPT: '451 later' });
  await send(identity, ...numbered(2, 'example.test'), reset('ada@bücher.test'));
  await until(() => smtp.recipients.length === 3);
  const status = await run('mails', 'status');
  expect(status).toMatchObject([
    { domain: 'example.test', waiting: 2, attempts: 1 },
    { domain: 'xn--bcher-kva.test', waiting: 1, attempts: 1 },
  ]);
  await identity.context.database.outboxMail.updateMany({
    data: { attempts: 5, nextAttemptAt: new Date(Date.now() + 3_600_000) },
  });
  smtp.reply({});
  expect(await run('mails', 'retry', 'Bücher.test')).toEqual({ retried: 1 });
  await until(async () => (await rows(identity)).length === 2);
  expect(await run('mails', 'retry')).toEqual({ retried: 2 });
  await until(async () => (await rows(identity)).length === 0);
});

test('several replicas send each of many mails once, also while an administrator retries', async () => {
  const environment = {
    DATABASE_URL: await identityDatabase(),
    KEY_ENCRYPTION_KEYS: `k:${Buffer.alloc(32, 7).toString('base64')}`,
  };
  const identity = await start(environment);
  await start(environment);
  const domains = ['a.test', 'b.test', 'c.test'];
  await send(identity, ...domains.flatMap((domain) => numbered(40, domain)));
  const run = commandsOf(identity);
  await until(async () => {
    await run('mails', 'retry');
    return (await rows(identity)).length === 0;
  });
  expect(smtp.messageIds).toHaveLength(120);
  expect(new Set(smtp.messageIds).size).toBe(120);
});
