import type { RouteGroups } from '@tessera/http-kit';
import { createApp } from './app.ts';
import { readConfig } from './config.ts';
import { type Context, createContext } from './context.ts';

/** The OpenAPI document. Works without a database, because nothing connects before the context is started. */
export const document = (furtherGroups: (context: Context) => RouteGroups = () => ({})): object => {
  const context = createContext(
    readConfig({
      DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/crm',
      IDENTITY_URL: 'http://127.0.0.1:4000',
    }),
  );
  return createApp(context, furtherGroups(context)).document;
};
