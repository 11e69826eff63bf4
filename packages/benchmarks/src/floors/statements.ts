import { createPool } from '@tessera/database-kit';
import type { Statement } from '../statement.ts';

/** Runs a statement, which is prepared once, and returns its rows. */
export type Run = () => Promise<readonly unknown[]>;

/**
 * The statements of a floor by path, from the environment: `STATEMENTS` is `{path: {text, values}}`, in `SCHEMA` of
 * `DATABASE_URL`.
 */
export const readStatements = (): readonly (readonly [path: string, run: Run])[] => {
  const { DATABASE_URL = '', STATEMENTS = '{}', SCHEMA: schema } = process.env;
  const applicationName = 'floor';
  const pool = createPool(DATABASE_URL, schema ? { applicationName, schema } : { applicationName });
  const planning = createPool(DATABASE_URL, {
    applicationName,
    ...(schema && { schema }),
    planCacheMode: 'force_custom_plan',
  });
  const statements = JSON.parse(STATEMENTS) as Readonly<Record<string, Statement>>;
  return Object.entries(statements).map(([path, { text, values, isPlannedEachTime }]) => {
    const from = isPlannedEachTime ? planning : pool;
    return [path, async () => (await from.query({ name: path, text, values: [...values] })).rows];
  });
};
