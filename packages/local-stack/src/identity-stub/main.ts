// The identity stub as a program of its own: `pnpm dev:identity-stub`.
import { askedToEnd, firstEnd } from '../ending.ts';
import { startIdentityStub, stubNotice, stubPort } from './stub.ts';

const { APP_ENV, CRM_PORT } = process.env;

const asked = askedToEnd();
try {
  if (APP_ENV !== 'local') throw new Error('The identity stub runs only where APP_ENV is "local".');
  const stub = await startIdentityStub(stubPort(process.env));
  console.log(stubNotice(stub.url, `http://127.0.0.1:${CRM_PORT || 4100}`));
  await firstEnd(asked);
  await stub.stop();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
