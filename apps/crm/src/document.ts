import { createApp } from './app.ts';
import { readConfig } from './config.ts';
import { createContext } from './context.ts';

/** The OpenAPI document. Needs no database: nothing connects before the context is started. */
export const document = (): object =>
  createApp(
    createContext(
      readConfig({
        DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/crm',
        IDENTITY_URL: 'http://127.0.0.1:4000',
      }),
    ),
  ).document;
