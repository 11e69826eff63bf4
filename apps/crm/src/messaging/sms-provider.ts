import type { PublicRequest, PublicResponse } from '@tessera/outbound-http';
import { DeliveryFailed } from './delivery-failed.ts';

export interface Sms {
  /** The number that receives it, in E.164 format: `+3612345678`. */
  readonly to: string;
  /** A number, or a name. */
  readonly sender: string;
  readonly text: string;
}

/** A provider of text messages with an HTTP API. A further one is a file with such an object. */
export interface SmsProvider {
  /** The names of the credentials that it requires. */
  readonly credentials: readonly string[];
  /** The request that sends a message. */
  request(
    sms: Sms,
    credentials: Readonly<Record<string, string>>,
  ): { readonly url: string; readonly options: PublicRequest };
  /** The provider's id of a message that it accepted. Throws a `DeliveryFailed` for any other response. */
  accepted(response: Pick<PublicResponse, 'status' | 'body'>): string;
}

/** The JSON object in a response; empty if there is none. */
export const jsonOf = ({ body }: Pick<PublicResponse, 'body'>): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

/** The error of a response that says nothing more precise than its status. */
export const failureOfStatus = (status: number, detail?: string): DeliveryFailed => {
  const reply = { code: status, detail };
  if (status === 401 || status === 403) {
    return new DeliveryFailed('authentication', { isTemporary: false, ...reply });
  }
  const isTemporary = status === 429 || status >= 500;
  return new DeliveryFailed(isTemporary ? 'connection' : 'message', { isTemporary, ...reply });
};
