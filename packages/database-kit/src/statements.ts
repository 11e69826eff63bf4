import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { formatSettings, type RowFormat } from './row-format.ts';

/** How many statements one connection keeps prepared; each uses memory of the server. */
export const MAX_PREPARED_STATEMENTS = 250;

/** Longer statements, in characters, are not kept prepared: they would use more memory than they save time. */
const MAX_PREPARED_LENGTH = 20_000;

/** Names by text, because hashing a text takes longer than a look-up. */
const names = new LRUCache<string, string>({
  max: 2000,
  maxSize: 4_000_000,
  sizeCalculation: (_name, text) => text.length + 1,
});

/** The name under which a statement is prepared; empty if it is prepared for one use. */
export const statementName = (text: string): string => {
  if (text.length > MAX_PREPARED_LENGTH) return '';
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = hash('sha1', text, 'hex');
  names.set(text, name);
  return name;
};

/** A statement with its values, as `Prisma.sql` creates it. */
export interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** Converts a statement to a query of `pg` that is prepared once per connection. */
export const toQuery = (
  { text, values }: Statement,
  format?: RowFormat<unknown>,
): pg.QueryConfig => ({
  ...formatSettings(format),
  name: statementName(text),
  text,
  values,
});

/** The members of pg's connection that prepare statements. */
interface Connection {
  /** The texts of the statements that pg considers prepared, by name. */
  readonly parsedStatements: Record<string, string>;
  parse(statement: { readonly name?: string }, ...rest: unknown[]): void;
  bind(config?: { readonly statement?: string }, ...rest: unknown[]): void;
  close(what: { readonly type: 'S'; readonly name: string }): void;
}

/**
 * Limits the prepared statements of a connection to the `MAX_PREPARED_STATEMENTS` most recently used. It follows the
 * protocol messages as they are sent, not as queries are queued, so it never closes a statement that a queued query
 * is about to use. `Close` is sent with the next query.
 */
export const boundStatements = (client: pg.PoolClient): void => {
  const { connection } = client as unknown as { connection: Connection };
  const { parse, bind } = connection;
  const used = new LRUCache<string, true>({
    max: MAX_PREPARED_STATEMENTS,
    dispose: (_used, name) => {
      connection.close({ type: 'S', name });
      delete connection.parsedStatements[name];
    },
  });
  connection.parse = (statement, ...rest) => {
    if (statement.name) used.set(statement.name, true);
    parse.call(connection, statement, ...rest);
  };
  connection.bind = (config, ...rest) => {
    if (config?.statement) used.get(config.statement);
    bind.call(connection, config, ...rest);
  };
};
