import { setTimeout as delay } from 'node:timers/promises';
import type { SmtpServer } from '@tessera/local-stack';
import { percentile } from '../load/plan.ts';
import { smallPicture } from './files.ts';
import { type Answer, createSender, formOf, type Sender } from './sender.ts';

/** What a quiet tenant does, and how often. */
export const REQUESTS = ['list', 'write', 'article', 'sign-in'] as const;
export const BACKGROUND = ['thumbnail', 'import', 'mail'] as const;
export type Probe = (typeof REQUESTS)[number] | (typeof BACKGROUND)[number];

/** Milliseconds between two requests: below the default limits of an account. */
const EVERY_MS: Readonly<Record<(typeof REQUESTS)[number], number>> = {
  list: 125,
  write: 500,
  article: 500,
  'sign-in': 500,
};
const POLL_MS = 250;
/** Work in the background that takes longer is given up, and counts as this long. */
const GIVE_UP_MS = 20_000;
const ROWS = 200;

export interface QuietTenant {
  readonly identity: string;
  readonly crm: string;
  readonly person: {
    readonly email: string;
    readonly password: string;
    readonly tenant_id: string;
  };
  readonly tenant: string;
  readonly token: string;
  /** The token of a client, which has limits of its own. */
  readonly clientToken: string;
  /** The id of an article, which is saved again and again. */
  readonly article: string;
  readonly smtp: SmtpServer;
}

/** What a quiet tenant noticed. */
export interface Noticed {
  /** Milliseconds, by what was done. */
  readonly times: Readonly<Record<Probe, readonly number[]>>;
  readonly errors: readonly string[];
}

let unique = 0;
const next = (): number => {
  unique += 1;
  return unique;
};

/** Sign-ins are limited by address, so each comes from another one. */
const withOwnAddress = async (work: (sender: Sender) => Promise<Answer>): Promise<Answer> => {
  const sender = createSender(`127.0.${3 + (next() % 100)}.${1 + (unique % 250)}`);
  try {
    return await work(sender);
  } finally {
    sender.close();
  }
};

/** Does everything at a constant rate until `signal` is aborted, and waits for what is under way. */
export const workQuietly = async (quiet: QuietTenant, signal: AbortSignal): Promise<Noticed> => {
  const { identity, crm, token, clientToken, tenant, person, smtp, article } = quiet;
  const sender = createSender('127.0.0.1');
  const times = Object.fromEntries(
    [...REQUESTS, ...BACKGROUND].map((probe) => [probe, [] as number[]]),
  ) as Record<Probe, number[]>;
  const errors: string[] = [];
  const judge = (probe: Probe, started: number, { status, text }: Answer): void => {
    times[probe].push(performance.now() - started);
    if (status < 200 || status > 299) errors.push(`${probe}: ${status} ${text.slice(0, 120)}`);
  };
  const api = `${crm}/api/crm`;
  const requests: Readonly<Record<(typeof REQUESTS)[number], () => Promise<Answer>>> = {
    list: () =>
      sender.send({
        url: `${api}/contacts`,
        token: clientToken,
        headers: { 'x-tenant': tenant },
      }),
    write: () =>
      sender.send({
        method: 'POST',
        url: `${api}/contacts`,
        token,
        json: { first_name: `Quiet ${next()}` },
      }),
    article: () =>
      sender.send({
        method: 'PUT',
        url: `${api}/kb-articles/${article}`,
        token,
        json: { body: `${next()} *words* and [links](https://example.com)\n\n`.repeat(40) },
      }),
    'sign-in': () =>
      withOwnAddress((own) =>
        own.send({
          method: 'POST',
          url: `${identity}/api/auth/login`,
          json: { email: person.email, password: person.password },
        }),
      ),
  };
  const underWay: Promise<void>[] = [];
  const steadily = async (probe: (typeof REQUESTS)[number]): Promise<void> => {
    while (!signal.aborted) {
      const started = performance.now();
      const judged = requests[probe]().then((answer) => judge(probe, started, answer));
      underWay.push(judged);
      // Few sign-ins of one account may be under way: each counts as a failure until it has succeeded.
      if (probe === 'sign-in') await judged;
      await delay(EVERY_MS[probe]);
    }
  };
  /** Starts work in the background, and waits until it is done. */
  const inTurns = async (
    probe: (typeof BACKGROUND)[number],
    start: () => Promise<Answer>,
    isDone: (started: Answer) => Promise<boolean>,
  ): Promise<void> => {
    while (!signal.aborted) {
      const began = performance.now();
      const started = await start();
      if (started.status < 200 || started.status > 299) {
        judge(probe, began, started);
        await delay(POLL_MS);
        continue;
      }
      let isOver = await isDone(started);
      while (!isOver && performance.now() - began < GIVE_UP_MS) {
        await delay(POLL_MS);
        isOver = await isDone(started);
      }
      times[probe].push(performance.now() - began);
      if (!isOver) errors.push(`${probe}: not done after ${GIVE_UP_MS / 1000} s`);
      await delay(4 * POLL_MS);
    }
  };
  const idIn = ({ text }: Answer): string => (JSON.parse(text) as { data: { id: string } }).data.id;
  const upload = (): Promise<Answer> =>
    sender.send({
      method: 'POST',
      url: `${api}/documents`,
      token,
      ...formOf({}, { name: 'quiet.png', type: 'image/png', content: smallPicture(next()) }),
    });
  const hasThumbnail = async (started: Answer): Promise<boolean> => {
    const url = `${api}/documents/${idIn(started)}/thumbnail`;
    return (await sender.send({ url, token })).status === 200;
  };
  const importRows = (): Promise<Answer> => {
    const rows = Array.from({ length: ROWS }, (_, at) => `Quiet ${next()},Row ${at}`);
    const content = Buffer.from(`first_name,last_name\n${rows.join('\n')}\n`);
    return sender.send({
      method: 'POST',
      url: `${api}/imports`,
      token,
      ...formOf({ resource: 'contacts' }, { name: 'quiet.csv', type: 'text/csv', content }),
    });
  };
  const isImported = async (started: Answer): Promise<boolean> => {
    const { text } = await sender.send({ url: `${api}/imports/${idIn(started)}`, token });
    return /"status":"completed"/.test(text);
  };
  let recipient = '';
  const invite = (): Promise<Answer> => {
    recipient = `quiet-${process.pid}-${next()}@quiet.test`;
    return sender.send({
      method: 'POST',
      url: `${identity}/api/tenants/${person.tenant_id}/members`,
      token,
      json: { email: recipient, role: 'viewer' },
    });
  };
  const hasArrived = async (): Promise<boolean> => smtp.recipients.includes(recipient);
  await Promise.all([
    ...REQUESTS.map(steadily),
    inTurns('thumbnail', upload, hasThumbnail),
    inTurns('import', importRows, isImported),
    inTurns('mail', invite, hasArrived),
  ]);
  await Promise.all(underWay);
  sender.close();
  return { times, errors };
};

/** The 99th percentile of each thing that was done, in milliseconds. */
export const p99Of = ({ times }: Noticed): Readonly<Record<Probe, number>> =>
  Object.fromEntries(
    Object.entries(times).map(([probe, taken]) => [probe, percentile(taken, 0.99)]),
  ) as Record<Probe, number>;
