import { freePort } from '@tessera/local-stack';
import {
  type ScriptedSmtp,
  type SmtpReply,
  type SmtpStep,
  startScriptedSmtp,
} from '../testing/scripted-smtp.ts';
import { smtpDelivery } from './delivery.ts';
import { DeliveryFailed } from './failures.ts';

let smtp: ScriptedSmtp;
beforeAll(async () => {
  smtp = await startScriptedSmtp();
});
afterAll(() => smtp.stop());

const attempt = async (
  url: string,
  { to = 'ada@example.test', signal = new AbortController().signal } = {},
): Promise<unknown> => {
  const from = 'Tessera <no-reply@tessera.test>';
  const id = '01980a5d-ac96-774b-bcce-b302099a8057';
  const message = { id, kind: 'password_reset', to, subject: 's', text: 't', html: 'h' } as const;
  try {
    await smtpDelivery({ url, from })(message, signal);
    return 'accepted';
  } catch (error) {
    return error instanceof DeliveryFailed ? error.verdict : error;
  }
};

const local = (user = ''): string => `smtp://${user}127.0.0.1:${smtp.port}`;
const withAuth: Partial<Record<SmtpStep, SmtpReply>> = { EHLO: '250-test\r\n250 AUTH PLAIN' };
const withTls: Partial<Record<SmtpStep, SmtpReply>> = { EHLO: '250-test\r\n250 STARTTLS' };

test.each([
  ['a mail server that greets with an error', { banner: '554 no service' }],
  ['a mail server that has too many connections', { banner: '421 too many connections' }],
  ['a mail server that cuts the connection', { banner: 'cut' }],
  ['a mail server that cuts the connection after EHLO', { EHLO: 'cut' }],
  ['a mail server that is stopping', { EHLO: '421 stopping' }],
  ['a mail server whose TLS fails', { ...withTls, STARTTLS: '454 no certificate' }],
  ['a mail server that is stopping before it knows a recipient', { MAIL: '421 stopping' }],
  ['a mail server that requires credentials', { MAIL: '530 5.7.0 authentication required' }],
] as const)('%s takes no mails', async (_what, replies) => {
  smtp.reply(replies);
  expect(await attempt(local())).toBe('unavailable');
});

test('a mail server that refuses the credentials takes no mails', async () => {
  for (const AUTH of ['535 wrong', '454 try later']) {
    smtp.reply({ ...withAuth, AUTH });
    expect(await attempt(local('user:password@'))).toBe('unavailable');
  }
  smtp.reply(withAuth);
  expect(await attempt(local('user:password@'))).toBe('accepted');
});

test('a mail server that cannot be reached, or does not greet in time, takes no mails', async () => {
  expect(await attempt(`smtp://127.0.0.1:${await freePort()}`)).toBe('unavailable');
  expect(await attempt('smtp://does-not-exist.invalid')).toBe('unavailable');
  smtp.reply({ banner: 'silence' });
  const waiting = new AbortController();
  const before = smtp.connections;
  const greeted = attempt(local(), { signal: waiting.signal });
  while (smtp.connections === before) await new Promise(setImmediate);
  waiting.abort();
  expect(await greeted).toBe('unavailable');
});

test.each([
  ['greylisting', { RCPT: '450 4.2.0 greylisted' }],
  ['a full mailbox', { RCPT: '452 4.2.2 full' }],
  ['a server that cannot accept the message now', { '.': '451 try later' }],
  ['a server that does not relay for this service', { RCPT: '554 5.7.1 relay access denied' }],
  ['a server that does not relay now', { RCPT: '454 4.7.1 relay access denied' }],
  ['a recipient for whom the server requires credentials', { RCPT: '530 authentication required' }],
  ['a sender that is not allowed', { MAIL: '553 5.7.1 sender rejected' }],
  ['a sender that is refused for now', { MAIL: '451 later' }],
  ['a bad sequence of commands', { DATA: '503 bad sequence' }],
] as const)('%s is retried', async (_what, replies) => {
  smtp.reply(replies);
  expect(await attempt(local())).toBe('later');
});

test.each([
  ['closes the connection', { RCPT: '421 4.7.0 too many mails to this domain' }],
  ['cuts the connection instead of a reply', { RCPT: 'cut' }],
  ['cuts the connection in the message', { DATA: 'cut' }],
  ['cuts the connection after the message, which it may have accepted', { '.': 'cut' }],
  ['closes the connection after the message', { '.': '421 stopping' }],
] as const)('a domain whose server %s is retried', async (_what, replies) => {
  smtp.reply(replies);
  expect(await attempt(local())).toBe('unanswered');
});

test.each(['RCPT', 'DATA', '.'] as const)(
  'silence after %s makes the domain wait',
  async (step) => {
    smtp.reply({ [step]: 'silence' });
    const waiting = new AbortController();
    const [before, received] = [smtp.recipients.length, smtp.messageIds.length];
    const sent = attempt(local(), { signal: waiting.signal });
    while (smtp.recipients.length === before) await new Promise(setImmediate);
    while (step === '.' && smtp.messageIds.length === received) await new Promise(setImmediate);
    waiting.abort();
    expect(await sent).toBe('unanswered');
  },
);

test.each([
  ['an unknown recipient', { RCPT: '550 5.1.1 no such user' }],
  ['a recipient whose syntax the server refuses', { RCPT: '501 5.1.3 bad address' }],
  ['a refusal without an enhanced code', { RCPT: '554 no' }],
  ['a message that is too large', { '.': '552 5.3.4 too large' }],
  ['a message that is too large for its sender', { MAIL: '552 5.3.4 too large' }],
  ['a message that the server does not want', { '.': '554 5.6.0 no' }],
  ['a transaction that the server refuses', { DATA: '554 no valid recipients' }],
] as const)('%s is given up', async (_what, replies) => {
  smtp.reply(replies);
  expect(await attempt(local())).toBe('refused');
});

test('a mail without a valid address is given up, and an address is never a command', async () => {
  smtp.reply({});
  expect(await attempt(local(), { to: '' })).toBe('refused');
  await attempt(local(), { to: 'a@example.test>\r\nRCPT TO:<b@example.test' });
  expect(smtp.recipients).not.toContain('b@example.test');
});

test('a mail server that pipelines names the step that failed', async () => {
  const EHLO = '250-test\r\n250 PIPELINING';
  smtp.reply({ EHLO, RCPT: '550 5.1.1 no such user', DATA: '503 no recipients' });
  expect(await attempt(local())).toBe('refused');
  smtp.reply({ EHLO, RCPT: '450 4.2.0 greylisted', DATA: '503 no recipients' });
  expect(await attempt(local())).toBe('later');
});
