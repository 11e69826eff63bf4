import { runService } from '@tessera/http-kit/service';

// Imported where the service runs: the primary process of several workers needs little memory.
await runService('crm', async () => {
  const [{ createApp }, { readConfig }, { createContext }] = await Promise.all([
    import('./app.ts'),
    import('./config.ts'),
    import('./context.ts'),
  ]);
  const context = createContext(readConfig(process.env));
  return { context, app: createApp(context).app };
});
