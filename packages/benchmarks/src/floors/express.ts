// A minimal app with Express and pg: each route runs one statement and returns its rows as JSON.
import { createPool } from '@tessera/database-kit';
import express from 'express';
import { serve } from './listening.ts';

/** `{path: {text, values}}`: the statement of each route. */
type Statements = Readonly<Record<string, { text: string; values: unknown[] }>>;

const { DATABASE_URL = '', STATEMENTS = '{}', SCHEMA } = process.env;
const pool = createPool(DATABASE_URL, {
  applicationName: 'floor',
  ...(SCHEMA && { schema: SCHEMA, planCacheMode: 'force_custom_plan' as const }),
});

const app = express();
for (const [path, { text, values }] of Object.entries(JSON.parse(STATEMENTS) as Statements)) {
  app.get(path, async (_req, res) => {
    const { rows } = await pool.query({ name: path, text, values });
    res.json({ data: rows });
  });
}

serve(app);
