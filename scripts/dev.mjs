// `npm run dev:identity`, `dev:crm`, `dev:crm:fake-auth`: one service alone; and `dev:identity-stub`: what
// stands in for identity while one works on CRM.
import { runFromSource } from './from-source.mjs';

process.env.APP_ENV = 'local';
runFromSource(
  'packages/local-stack/src/develop-main.ts',
  [process.argv[2]],
  ['SIGINT', 'SIGTERM', 'SIGHUP'],
);
