import {
  accountTest,
  type Channel,
  EmailTestInput,
  SentMessage,
  SmsTestInput,
} from '@tessera/contracts';
import { type Shape, shape, uuid } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { record } from '../../http.ts';
import { DeliveryFailed } from '../../messaging/delivery-failed.ts';
import { systemRoute } from '../../system/system-route.ts';
import { type AccountTests, messageNotSent } from './account-tests.service.ts';

const failures = {
  422: accountTest.refused,
  502: {
    description: accountTest.failed,
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
      description: accountTest.description,
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
