import type { Channel } from '@tessera/contracts';
import {
  bool,
  described,
  email,
  matching,
  named,
  rawText,
  type Shape,
  shape,
  uuid,
} from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { record } from '../../http.ts';
import { DeliveryFailed } from '../../messaging/delivery-failed.ts';
import { systemRoute } from '../../system/system-route.ts';
import { type AccountTests, messageNotSent } from './account-tests.service.ts';

const EmailTestInput = named(
  'EmailTestInput',
  shape({ to: described(email(), 'The address that receives the message') }),
);

const SmsTestInput = named(
  'SmsTestInput',
  shape({
    to: described(
      matching(/^\+[1-9][0-9]{6,14}$/, 'a number such as +3612345678', 16),
      'The number that receives the message, in E.164 format',
      '+3612345678',
    ),
  }),
);

const SentMessage = named(
  'SentMessage',
  shape({
    sent: described(bool(), 'Always true; a message that was not accepted is an error'),
    message_id: described(rawText(400), "The Message-ID of the mail, or the provider's id"),
  }),
);

const failures = {
  422: 'Invalid input; or `message_not_sent`: `step` says whether the provider, the credentials, the address, TLS, the authentication, the sender, the recipient or the message is the problem',
  502: {
    description: 'The server cannot be reached or refused the message for now (`message_not_sent`)',
    error: () => messageNotSent(new DeliveryFailed('connection', { isTemporary: true })),
  },
  503: 'Too many tests are running, or the credentials cannot be decrypted',
} as const;

/** The routes that send test messages through accounts (decision C14). */
export const accountTestRoutes = ({ send }: AccountTests): RouteTable => {
  const testOf = (channel: Channel, name: string, body: Shape & typeof EmailTestInput) =>
    systemRoute({
      method: 'post',
      path: `/system/${channel}/accounts/{id}/test`,
      resource: `${name}`,
      isIdempotent: true,
      summary: `Send a test message through an ${name}`,
      description:
        'The text of the message is fixed. An account can be tested 5 times per minute, also while it is not active. A server in a private network is reached only if `OUTBOUND_ALLOWED_NETWORKS` contains it.',
      params: shape({ id: uuid() }),
      body,
      responses: { 200: record(SentMessage) },
      problems: failures,
      handler: async ({ caller, params: { id }, body: { to }, reply }) => {
        const { messageId } = await send(caller, channel, id, to);
        return reply(200, { data: { sent: true, message_id: messageId } });
      },
    });
  return {
    testEmailAccount: testOf('email', 'email account', EmailTestInput),
    testSmsAccount: testOf('sms', 'SMS account', SmsTestInput as Shape as typeof EmailTestInput),
  };
};
