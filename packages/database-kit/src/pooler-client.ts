import pg from 'pg';

/** The part of `pg.Client` that its types leave out, or overload too often to be overridden. */
interface SentClient {
  getStartupConf(): Record<string, string>;
  query(query: unknown, ...rest: unknown[]): unknown;
}

const Client = pg.Client as unknown as new (config?: pg.ClientConfig) => SentClient;

/** What PgBouncer passes on of a client's startup message; it refuses everything else. */
const PASSED_ON = new Set(['user', 'database', 'application_name']);

const hasName = (query: unknown): query is { name: unknown } =>
  typeof query === 'object' && query !== null && 'name' in query;

/**
 * A client of PgBouncer in transaction mode, where each transaction may have another connection to the
 * server: it sends no named statements, and no settings that a connection would carry.
 */
export class PoolerClient extends Client {
  override getStartupConf(): Record<string, string> {
    const all = Object.entries(super.getStartupConf());
    return {
      ...Object.fromEntries(all.filter(([name]) => PASSED_ON.has(name))),
      // PgBouncer keeps track of this one.
      TimeZone: 'UTC',
    };
  }

  override query(query: unknown, ...rest: unknown[]): unknown {
    if (!hasName(query)) return super.query(query, ...rest);
    if ('submit' in query) {
      query.name = undefined;
      return super.query(query, ...rest);
    }
    return super.query({ ...query, name: undefined }, ...rest);
  }
}
