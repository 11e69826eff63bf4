// The identity stub as a separate program: `npm run dev:identity-stub`.
import { firstEnd, stopRequested } from '../ending.ts';
import { portOf } from '../ports.ts';
import { startIdentityStub, stubNotice } from './stub.ts';

const { APP_ENV } = process.env;

const stopSignal = stopRequested();
try {
  if (APP_ENV !== 'local') throw new Error('The identity stub runs only if APP_ENV is "local".');
  const crmUrl = `http://127.0.0.1:${portOf('CRM_PORT')}`;
  const stub = await startIdentityStub(portOf('IDENTITY_STUB_PORT'));
  console.log(stubNotice(stub.url, crmUrl));
  await firstEnd(stopSignal);
  await stub.stop();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
