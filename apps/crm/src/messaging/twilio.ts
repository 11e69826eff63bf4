import { DeliveryFailed, type DeliveryStep } from './delivery-failed.ts';
import { failureOfStatus, jsonOf, type SmsProvider } from './sms-provider.ts';

/** Error codes of Twilio that are about one of the numbers. */
const steps: Readonly<Record<number, DeliveryStep>> = {
  // The number is invalid, cannot be reached, has opted out, is in a region without permission, or is no mobile.
  21211: 'recipient',
  21214: 'recipient',
  21217: 'recipient',
  21265: 'recipient',
  21408: 'recipient',
  21610: 'recipient',
  21612: 'recipient',
  21614: 'recipient',
  // The sender is invalid, belongs to another account, or cannot send messages.
  21212: 'sender',
  21603: 'sender',
  21606: 'sender',
  21611: 'sender',
  21659: 'sender',
  21660: 'sender',
};

/** Twilio's Messages API. The credentials are `account_sid` and `auth_token`. */
export const createTwilio = (baseUrl: string): SmsProvider => ({
  credentials: ['account_sid', 'auth_token'],

  request({ to, sender, text }, { account_sid: sid = '', auth_token: token = '' }) {
    const body = new URLSearchParams({ To: to, From: sender, Body: text });
    const credentials = Buffer.from(`${sid}:${token}`).toString('base64');
    return {
      url: `${baseUrl}/2010-04-01/Accounts/${encodeURIComponent(sid)}/Messages.json`,
      options: {
        method: 'POST',
        headers: {
          authorization: `Basic ${credentials}`,
          'content-type': 'application/x-www-form-urlencoded',
          accept: 'application/json',
        },
        body: body.toString(),
      },
    };
  },

  accepted(response) {
    const { status } = response;
    const { sid, code } = jsonOf(response);
    if (status === 201 && typeof sid === 'string' && sid.length <= 100) return sid;
    const detail = typeof code === 'number' ? `${code}` : undefined;
    const step = typeof code === 'number' ? steps[code] : undefined;
    if (step) throw new DeliveryFailed(step, { isTemporary: false, code: status, detail });
    throw failureOfStatus(status, detail);
  },
});
