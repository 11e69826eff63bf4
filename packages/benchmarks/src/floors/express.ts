// A minimal app with Express and pg: each route runs one statement and returns its rows as JSON.
import express from 'express';
import { serve } from './listening.ts';
import { readStatements } from './statements.ts';

const app = express();
for (const [path, run] of readStatements()) {
  app.get(path, async (_req, res) => {
    res.json({ data: await run() });
  });
}

serve(app);
