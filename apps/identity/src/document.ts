import { createApp } from './app.ts';
import { readConfig } from './config.ts';
import { createContext } from './context.ts';

/** The OpenAPI document. Needs no database: nothing connects before the context is started. */
export const document = (): object =>
  createApp(
    createContext(
      readConfig({
        DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/identity',
        ISSUER: 'http://127.0.0.1:4000',
        KEY_ENCRYPTION_KEYS: `document:${Buffer.alloc(32).toString('base64')}`,
      }),
    ),
  ).document;
