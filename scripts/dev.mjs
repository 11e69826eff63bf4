// `npm run dev:identity`, `dev:crm`, `dev:crm:fake-auth`: run one service alone; `dev:identity-stub` runs the
// stub of identity for work on CRM.
import { runFromSource } from './from-source.mjs';

process.env.APP_ENV = 'local';
runFromSource(
  'packages/local-stack/src/develop-main.ts',
  [process.argv[2]],
  ['SIGINT', 'SIGTERM', 'SIGHUP'],
);
