import { AddressRefused, LookupFailed } from '@tessera/outbound-http';

/** The step at which sending a message failed. */
export const deliverySteps = [
  'provider',
  'credentials',
  'dns',
  'address',
  'connection',
  'tls',
  'authentication',
  'sender',
  'recipient',
  'message',
] as const;

export type DeliveryStep = (typeof deliverySteps)[number];

/** What a server answered: never its text, which may contain addresses and credentials. */
export interface DeliveryReply {
  /** The reply code of SMTP (RFC 5321), or the status of HTTP. */
  readonly code?: number | undefined;
  /** The enhanced status code of SMTP (RFC 3463), or the error code of the provider. */
  readonly detail?: string | undefined;
}

interface Failure extends DeliveryReply {
  /** Whether the same message may be accepted later, without any change. */
  readonly isTemporary: boolean;
}

const explanations: Readonly<Record<DeliveryStep, string>> = {
  provider: 'The provider of the account is not supported.',
  credentials: 'The account lacks credentials that the provider requires.',
  dns: 'The host of the server has no address.',
  address: 'The server is not at a public address.',
  connection: 'The server cannot be reached, or closed the connection.',
  tls: 'No TLS connection to the server can be established.',
  authentication: 'The server rejected the credentials.',
  sender: 'The server rejected the sender.',
  recipient: 'The server rejected the recipient.',
  message: 'The server rejected the message.',
};

/** A message was not accepted. Its text contains no secret and no address. */
export class DeliveryFailed extends Error {
  override readonly name = 'DeliveryFailed';
  readonly step: DeliveryStep;
  readonly isTemporary: boolean;
  readonly reply: DeliveryReply;

  constructor(step: DeliveryStep, { isTemporary, code, detail }: Failure) {
    super(explanations[step]);
    this.step = step;
    this.isTemporary = isTemporary;
    this.reply = { code, detail };
  }
}

/** The failure of a connection or a request that got no answer. */
export const connectionFailure = (error: unknown): DeliveryFailed => {
  if (error instanceof AddressRefused) return new DeliveryFailed('address', { isTemporary: false });
  if (error instanceof LookupFailed) {
    return new DeliveryFailed('dns', { isTemporary: error.isTemporary });
  }
  return new DeliveryFailed('connection', { isTemporary: true });
};
