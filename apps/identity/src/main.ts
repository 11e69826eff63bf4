import { runService } from '@tessera/http-kit';
import { createApp } from './app.ts';
import { readConfig } from './config.ts';
import { createContext } from './context.ts';

await runService('identity', () => {
  const context = createContext(readConfig(process.env));
  return { context, app: createApp(context).app };
});
