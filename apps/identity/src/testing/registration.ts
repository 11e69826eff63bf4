import { startIdentity, type TestIdentity } from './identity.ts';
import { type Mailbox, openMailbox } from './mailbox.ts';

/** Starts identity with a mailbox and open registration for a test file, and stops both after its tests. */
export const startRegistration = async (): Promise<{
  readonly identity: TestIdentity;
  readonly mailbox: Mailbox;
}> => {
  const mailbox = await openMailbox();
  const environment = { MAIL_DIRECTORY: mailbox.directory, REGISTRATION_ENABLED: 'true' };
  const identity = await startIdentity(environment);
  afterAll(async () => {
    await identity.stop();
    await mailbox.remove();
  });
  return { identity, mailbox };
};
