import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';

/** The most statements that one connection keeps prepared: each takes memory of the server. */
export const PREPARED_STATEMENTS = 250;

/** A longer text costs the server more memory than its next use would save; in characters. */
const MAX_PREPARED_LENGTH = 20_000;

/** Names by text: hashing a text costs more than looking it up. */
const names = new LRUCache<string, string>({
  max: 2000,
  maxSize: 4_000_000,
  sizeCalculation: (_name, text) => text.length + 1,
});

/** The name that a statement is prepared under; empty: prepared for one use. */
export const statementName = (text: string): string => {
  if (text.length > MAX_PREPARED_LENGTH) return '';
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = hash('sha1', text, 'hex');
  names.set(text, name);
  return name;
};

/** A statement with its values, as `Prisma.sql` makes it. */
export interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** The statement as `pg` takes it, prepared once for each connection. */
export const toQuery = ({ text, values }: Statement): pg.QueryConfig => ({
  name: statementName(text),
  text,
  values,
});

/** The part of pg's connection that statements are prepared with. */
interface Connection {
  /** By name, the texts that pg takes for prepared. */
  readonly parsedStatements: Record<string, string>;
  parse(statement: { readonly name?: string }, ...rest: unknown[]): void;
  bind(config?: { readonly statement?: string }, ...rest: unknown[]): void;
  close(what: { readonly type: 'S'; readonly name: string }): void;
}

/**
 * Keeps the statements prepared that a connection used last, `PREPARED_STATEMENTS` at most. The messages
 * of the protocol are watched as they are sent, because queries wait in pg before their turn: the one
 * that is closed is then never one that is about to be used. `Close` travels with the next query.
 */
export const boundStatements = (client: pg.PoolClient): void => {
  const { connection } = client as unknown as { connection: Connection };
  const { parse, bind } = connection;
  const used = new LRUCache<string, true>({
    max: PREPARED_STATEMENTS,
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
