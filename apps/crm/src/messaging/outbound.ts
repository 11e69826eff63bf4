import { PublicHttp, PublicTcp } from '@tessera/outbound-http';
import type { Config } from '../config.ts';
import { createSmsSender, type SmsSender } from './sms.ts';
import { createSmtp, type Smtp } from './smtp.ts';
import { createTwilio } from './twilio.ts';

/** What sends to servers that tenants have configured: only to public addresses and to the allowed networks. */
export interface Outbound {
  readonly http: PublicHttp;
  readonly smtp: Smtp;
  readonly sms: SmsSender;
  /** Aborts running requests. */
  close(): Promise<void>;
}

export const openOutbound = ({ allowedNetworks, twilioUrl }: Config['outbound']): Outbound => {
  const http = new PublicHttp({ allowedNetworks });
  return {
    http,
    smtp: createSmtp({ tcp: new PublicTcp({ allowedNetworks }) }),
    sms: createSmsSender(http, { twilio: createTwilio(twilioUrl) }),
    close: () => http.close(),
  };
};
