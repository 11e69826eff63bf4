import type { PublicHttp } from '@tessera/outbound-http';
import { connectionFailure, DeliveryFailed } from './delivery-failed.ts';
import type { Sms, SmsProvider } from './sms-provider.ts';

/** The settings of an SMS account, with its credentials. */
export interface SmsAccount {
  readonly provider: string;
  readonly sender: string;
  readonly credentials: Readonly<Record<string, string>> | null;
}

/** Sends text messages through the providers of accounts. */
export interface SmsSender {
  /** Returns the provider's id of a message that it has accepted. Throws a `DeliveryFailed`. */
  send(account: SmsAccount, sms: Omit<Sms, 'sender'>): Promise<{ readonly messageId: string }>;
}

const LIMITS = { timeoutMs: 15_000, maxBytes: 64 * 1024 } as const;

export const createSmsSender = (
  http: Pick<PublicHttp, 'request'>,
  providers: Readonly<Record<string, SmsProvider>>,
): SmsSender => ({
  async send({ provider: name, sender, credentials }, { to, text }) {
    const provider = Object.hasOwn(providers, name) ? providers[name] : undefined;
    if (!provider) throw new DeliveryFailed('provider', { isTemporary: false });
    const held = credentials ?? {};
    if (provider.credentials.some((required) => !Object.hasOwn(held, required))) {
      throw new DeliveryFailed('credentials', { isTemporary: false });
    }
    const { url, options } = provider.request({ to, text, sender }, held);
    const response = await http
      .request(url, Object.assign({}, options, LIMITS))
      .catch((error: unknown) => {
        throw connectionFailure(error);
      });
    return { messageId: provider.accepted(response) };
  },
});
