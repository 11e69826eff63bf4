// The identity stub as a program of its own: `APP_ENV=local node scripts/dev.mjs identity-stub`.
import { createLogger, runProcess } from '@tessera/http-kit';
import { startIdentityStub, stubNotice, stubPort } from './stub.ts';

const { APP_ENV, CRM_PORT } = process.env;

await runProcess(createLogger('identity-stub', 'info'), async () => {
  if (APP_ENV !== 'local') throw new Error('The identity stub runs only where APP_ENV is "local".');
  const stub = await startIdentityStub(stubPort(process.env));
  console.log(stubNotice(stub.url, `http://127.0.0.1:${CRM_PORT || 4100}`));
  return () => stub.stop();
});
