import type { Channel } from '@tessera/contracts';
import { Shares } from '@tessera/fair-shares';
import {
  type Attempts,
  type Counters,
  createAttempts,
  HttpError,
  type Logger,
  notFound,
} from '@tessera/http-kit';
import type { Vault } from '@tessera/vault';
import type { Database } from '../../database.ts';
import { DeliveryFailed } from '../../messaging/delivery-failed.ts';
import type { Outbound } from '../../messaging/outbound.ts';
import type { SmsAccount } from '../../messaging/sms.ts';
import type { SmtpAccount } from '../../messaging/smtp.ts';
import type { TenantCaller } from '../../records/kind.ts';
import { recordTest } from './account-tests.repository.ts';
import { openedAccount } from './sending-accounts.service.ts';
import { findAccount, type StoredAccount } from './stored-accounts.repository.ts';

/** Sends test messages through the accounts of tenants. */
export interface AccountTests {
  /**
   * Sends a test message to an address or a number; returns its Message-ID, or the provider's id. Throws 404, 422 or 502
   * `message_not_sent`, 429 after several tests of one account, and 503 while too many tests of the tenant or of all are running and if the
   * credentials cannot be decrypted.
   */
  send(
    caller: TenantCaller,
    channel: Channel,
    id: string,
    to: string,
  ): Promise<{ readonly messageId: string }>;
}

/** What `createAccountTests` needs. */
interface Dependencies {
  readonly database: Pick<Database, 'forTenant'>;
  readonly outbound: Pick<Outbound, 'smtp' | 'sms'>;
  readonly vault: Vault | undefined;
  readonly counters: Pick<Counters, 'store'>;
  readonly logger: Logger;
}

const TESTS_PER_MINUTE = 5;

/**
 * How many tests one process runs at the same time, of which one tenant has at most half: a test may take many seconds,
 * and with an `Idempotency-Key` it occupies a connection to the database.
 */
const MAX_CONCURRENT = 4;

/** The error of a message that was not accepted: 502 if the same request may succeed later, otherwise 422. */
export const messageNotSent = ({ message, step, isTemporary, reply }: DeliveryFailed): HttpError =>
  new HttpError(isTemporary ? 502 : 422, 'message_not_sent', message, {
    details: { step, reply_code: reply.code ?? null, reply_detail: reply.detail ?? null },
  });

const tooManyTests = (): HttpError =>
  new HttpError(503, 'not_ready', 'Too many accounts are being tested. Try again later.', {
    headers: { 'Retry-After': '10' },
    details: { max_tests: MAX_CONCURRENT / 2 },
  });

const textOf = (channel: Channel, { name }: StoredAccount): string => {
  const kind = channel === 'email' ? 'email' : 'SMS';
  return `This is a test message. The ${kind} account "${name}" can send messages.`;
};

export const createAccountTests = (dependencies: Dependencies): AccountTests => {
  const { database, outbound, vault, counters, logger } = dependencies;
  const attempts: Attempts = createAttempts({
    name: 'account-test',
    limit: TESTS_PER_MINUTE,
    window: 60,
    store: counters.store('account-test:'),
    message: 'The account was tested too often. Try again later.',
  });
  const places = new Shares(MAX_CONCURRENT);

  const deliver = (channel: Channel, account: StoredAccount, to: string) => {
    const text = textOf(channel, account);
    const settings = openedAccount(vault, account);
    return channel === 'email'
      ? outbound.smtp.send(settings as SmtpAccount, { to, subject: 'Test message', text })
      : outbound.sms.send(settings as SmsAccount, { to, text });
  };

  return {
    async send({ tenantId }, channel, id, to) {
      const db = database.forTenant(tenantId);
      const account = await findAccount(db, channel, id);
      if (!account) throw notFound(`The ${channel === 'email' ? 'email' : 'SMS'} account`);
      await attempts.take(`${tenantId} ${id}`);
      if (!places.take(tenantId)) throw tooManyTests();
      try {
        const { messageId } = await deliver(channel, account, to);
        await recordTest(db, id);
        return { messageId };
      } catch (error) {
        if (!(error instanceof DeliveryFailed)) throw error;
        const { step, reply } = error;
        logger.info({ account: id, channel, step, ...reply }, 'a test message was not accepted');
        throw messageNotSent(error);
      } finally {
        places.give(tenantId);
      }
    },
  };
};
