import type { Application } from '../application.ts';
import { recordsLive } from './records-of-releases.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let stack: TestStack;
/** The services of the previous release, on the databases that this release has migrated. */
let previous: { readonly identity: Application; readonly crm: Application };

beforeAll(async () => {
  const checkout = process.env.PREVIOUS_RELEASE;
  stack = await startTestStack();
  const identity = await stack.addReplica('identity', { CRM_URL: stack.crm.url }, checkout);
  const crm = await stack.addReplica('crm', { IDENTITY_URL: identity.url }, checkout);
  previous = { identity, crm };
}, 180_000);
afterAll(() => stack?.remove(), 60_000);

describe('while this release does not run', () => {
  beforeAll(() => Promise.all([stack.identity.stop(), stack.crm.stop()]));
  afterAll(() => Promise.all([stack.identity.start(), stack.crm.start()]));

  test('the previous release works with the schema of this one', async () => {
    await recordsLive(previous, previous, stack.system.owner);
  });
});

test('Both releases work side by side, and each understands what the other writes', async () => {
  await recordsLive(previous, stack, stack.system.owner);
  await recordsLive(stack, previous, stack.system.owner);
});

test('This release continues alone', async () => {
  await Promise.all([previous.identity.stop(), previous.crm.stop()]);
  await recordsLive(stack, stack, stack.system.owner);
});
