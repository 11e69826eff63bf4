import { textsOf } from '../pages/texts/texts.ts';
import { htmlPage, plainText } from './layout.ts';
import { mailLinks } from './links.ts';
import type { MailData, MailKind } from './mails.ts';
import { type MailText, textsFor } from './texts/texts.ts';

const seenDevice = {
  firstName: 'Ada',
  device: { browser: 'Firefox', os: 'Windows' },
  ipAddress: '192.0.2.7',
  at: new Date('2026-01-31T12:00:00.000Z'),
  timeZone: 'Europe/Budapest',
};

const data: MailData = {
  email_verification: { token: 'token', lifetime: 86_400 },
  password_reset: { firstName: 'Ada', token: 'token', lifetime: 3600 },
  password_changed: { firstName: 'Ada' },
  new_device: seenDevice,
  new_network: seenDevice,
  factor_added: { ...seenDevice, factor: 'two_factor' },
  factor_removed: { firstName: 'Ada', factor: 'pin', seen: null },
  pin_changed: seenDevice,
  recovery_code_used: { ...seenDevice, left: 1 },
  recovery_codes_replaced: seenDevice,
  account_secured: { ...seenDevice, by: 'password' },
  tenant_left: { ...seenDevice, tenant: 'Analytical Engines' },
  email_changed: { firstName: 'Ada', newEmail: 'new@example.test' },
  email_change: { token: 'token', lifetime: 86_400 },
  email_change_requested: { ...seenDevice, newEmail: 'new@example.test' },
  email_change_taken: { firstName: 'Ada' },
  email_replaced: {
    firstName: 'Ada',
    token: 'token',
    lifetime: 259_200,
    newEmail: 'new@example.test',
  },
  email_restored: { firstName: 'Ada', email: 'old@example.test' },
  data_exported: seenDevice,
  account_deletion_requested: { ...seenDevice, dueAt: new Date('2026-02-14T12:00:00.000Z') },
  account_deletion_reminder: {
    firstName: 'Ada',
    dueAt: new Date('2026-02-14T12:00:00.000Z'),
    timeZone: 'Europe/Budapest',
  },
  account_deletion_refused: {
    firstName: 'Ada',
    tenants: ['Analytical Engines'],
    isLastAdministrator: true,
  },
  account_deleted: { firstName: 'Ada' },
  address_taken: { firstName: 'Ada' },
  invitation: { token: 'token', lifetime: 604_800, tenant: 'Acme', inviter: 'Olivia Acme' },
};
const kinds = Object.keys(data) as MailKind[];

const textOf = (locale: string, kind: MailKind, given: object = {}): MailText =>
  (textsFor(locale).texts.mails[kind] as (data: object) => MailText)({ ...data[kind], ...given });
/** The mail has no links. */
const isWithoutLink = (kind: MailKind): boolean => kind === 'account_deleted';
const rendered = (locale: string, kind: MailKind, given: object = {}) => {
  const { language, texts } = textsFor(locale);
  const page = {
    ...texts,
    brand: 'Acme & Co.',
    language,
    text: textOf(locale, kind, given),
    link: isWithoutLink(kind) ? null : 'https://x.test/?a=1&b=2',
  };
  return { html: htmlPage(page), text: plainText(page) };
};

describe.each(['en', 'hu', 'de'] as const)('in %s', (locale) => {
  test.each(kinds)('%s has all its texts, with everything filled in', (kind) => {
    const { html, text } = rendered(locale, kind);
    for (const each of [html, text]) {
      expect(each).not.toMatch(/undefined|null|NaN|\[object|Invalid/);
      expect(each).toContain(textOf(locale, kind).greeting);
    }
    expect(html).toContain('>Acme &amp; Co.</td>');
    expect(text).toContain('\n-- \nAcme & Co.\n');
    expect(html).toContain(`<html lang="${locale}">`);
    expect(text.includes('https://x.test/?a=1&b=2')).toBe(!isWithoutLink(kind));
    expect(html.includes('<a href=')).toBe(!isWithoutLink(kind));
    expect(textOf(locale, kind).action === undefined).toBe(isWithoutLink(kind));
    expect(html).not.toMatch(/<script|<img|src=/);
  });

  test('mails name buttons of the account pages as the pages do', () => {
    const { activity, data } = textsOf(locale).account;
    const named = (kind: MailKind): string => rendered(locale, kind).text;
    for (const kind of [
      ...(['new_device', 'new_network', 'factor_added', 'recovery_code_used'] as const),
      ...(['recovery_codes_replaced', 'pin_changed', 'tenant_left'] as const),
    ]) {
      expect(named(kind)).toContain(activity.notMe);
    }
    expect(named('account_deletion_requested')).toContain(data.keep);
    expect(named('account_deletion_reminder')).toContain(data.keep);
  });

  test('no two languages share a sentence', () => {
    for (const kind of kinds) {
      for (const other of ['en', 'hu', 'de'].filter((each) => each !== locale)) {
        expect(textOf(locale, kind).subject).not.toBe(textOf(other, kind).subject);
        expect(textOf(locale, kind).notes).not.toEqual(textOf(other, kind).notes);
      }
    }
  });
});

test('times are shown in the recipient’s time zone, durations in words', () => {
  expect(rendered('en', 'new_device').text).toMatch(/January 31, 2026.*1:00:00\sPM/);
  expect(rendered('hu', 'password_reset').text).toContain('1 óráig');
  expect(rendered('de', 'invitation').text).toContain('7 Tage');
});

test.each([
  ['en', 'Firefox on Windows', 'Unknown device'],
  ['hu', 'Firefox (Windows)', 'Ismeretlen eszköz'],
  ['de', 'Firefox unter Windows', 'Unbekanntes Gerät'],
])('devices are described in the recipient’s language: %s', (locale, known, unknown) => {
  const told = (browser: string, os: string) =>
    rendered(locale, 'new_device', { device: { browser, os } }).text;
  expect(told('Firefox', 'Windows')).toContain(`${known}, `);
  expect(told('curl', 'unknown')).toContain('\n\ncurl, ');
  expect(told('unknown', 'unknown')).toContain(`\n\n${unknown}, `);
});

test('user-provided text is shown as it is: it is not HTML and does not start a new line', () => {
  const tenant = '<img src=x onerror=alert(1)> & "Co"';
  const { html } = rendered('en', 'invitation', { tenant });
  expect(html).not.toContain('<img');
  expect(html).toContain('&lt;img src=x onerror=alert(1)&gt; &amp; &quot;Co&quot;');
  const device = { browser: 'Firefox\n\nGo to https://evil.test', os: 'Windows' };
  const { text } = rendered('en', 'new_device', { device });
  expect(text).not.toContain('\nGo to');
});

test('an unknown language falls back to English, even one named like a property of objects', () => {
  for (const locale of ['fr', 'constructor', '__proto__', '']) {
    expect(textsFor(locale).language).toBe('en');
  }
});

test('links lead to the page for the relevant action', () => {
  const links = mailLinks({ issuer: 'https://id.test', pages: 'https://app.test' });
  const mail = { to: 'a+b@example.test', locale: 'en' };
  const link = (kind: MailKind): string | null =>
    (links[kind] as (mail: object) => string | null)({ ...mail, kind, data: data[kind] });
  const activity = 'https://id.test/account/activity';
  expect(Object.fromEntries(kinds.map((kind) => [kind, link(kind)]))).toEqual({
    email_verification: 'https://id.test/email/verify?token=token',
    password_reset: 'https://app.test/password/reset?token=token&email=a%2Bb%40example.test',
    password_changed: 'https://app.test/password/forgot',
    new_device: activity,
    new_network: activity,
    factor_added: activity,
    factor_removed: 'https://id.test/account/pin',
    pin_changed: activity,
    recovery_code_used: activity,
    recovery_codes_replaced: activity,
    account_secured: activity,
    tenant_left: 'https://id.test/account/activity/not-me',
    email_changed: 'https://app.test/password/forgot',
    email_change: 'https://id.test/email/change?token=token',
    email_change_requested: 'https://id.test/account/profile',
    email_change_taken: 'https://id.test/account',
    email_replaced: 'https://id.test/email/undo?token=token',
    email_restored: 'https://app.test/password/forgot',
    data_exported: 'https://app.test/password/forgot',
    account_deletion_requested: 'https://id.test/account/data',
    account_deletion_reminder: 'https://id.test/account/data',
    account_deletion_refused: 'https://id.test/account/data',
    account_deleted: null,
    address_taken: 'https://app.test/password/forgot',
    invitation: 'https://app.test/invitations/accept?token=token',
  });
});

test('a factor removed by its owner links to the activity, one removed by an administrator to its setup', () => {
  const { factor_removed: link } = mailLinks({
    issuer: 'https://id.test',
    pages: 'https://a.test',
  });
  const mail = { kind: 'factor_removed', to: 'ada@example.test', locale: 'en' } as const;
  const removed = (seen: typeof seenDevice | null) =>
    link({ ...mail, data: { firstName: 'Ada', factor: 'two_factor', seen } });
  expect(removed(seenDevice)).toBe('https://id.test/account/activity');
  expect(removed(null)).toBe('https://id.test/account/two-factor');
});
