import pg from 'pg';
import { type Statement, statementName } from './statements.ts';

/** The part of pg's connection that a query is sent with. */
interface Connection {
  /** By name, the texts of statements that the server has prepared, and of those that were sent to it. */
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(portal: {
    readonly statement: string;
    readonly values: readonly string[];
    valueMapper(value: string): string;
  }): void;
  execute(portal: { readonly portal: string; readonly rows: number }): void;
}

/** The part of `pg.Query` that its types leave out. */
interface SentQuery {
  name: string | undefined;
  text: string;
  prepare(connection: Connection): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}

const Query = pg.Query as unknown as new (config: pg.QueryConfig) => SentQuery & pg.Submittable;

const ENTER_NAME = 'enter_tenant';

/**
 * A statement of one tenant. A first statement, which says who the tenant is, travels with it: both are
 * sent before one Sync, which makes them one transaction (PostgreSQL manual, "Extended Query"). What the
 * first one sets is therefore gone when the query ends, and a round trip of its own is not needed.
 */
export class TenantQuery extends Query {
  readonly #enter: string;
  readonly #tenantId: string;
  readonly #own: Pick<SentQuery, 'name' | 'text'>;
  #hasEntered = false;

  /** `enter` is the SQL of the first statement, whose `$1` is the tenant. */
  constructor({ text, values }: Statement, enter: string, tenantId: string) {
    const config = { name: statementName(text), text, values, queryMode: 'extended' };
    super(config as pg.QueryConfig);
    this.#enter = enter;
    this.#tenantId = tenantId;
    this.#own = { name: this.name, text };
  }

  override prepare(connection: Connection): void {
    this.#own.name = this.name;
    // Without named statements this one has no name either.
    const name = this.name ? ENTER_NAME : '';
    const { parsedStatements, submittedNamedStatements: submitted } = connection;
    if (!name || !(name in parsedStatements || name in submitted)) {
      connection.parse({ name, text: this.#enter });
      if (name) submitted[name] = this.#enter;
    }
    const values = [this.#tenantId];
    connection.bind({ statement: name, values, valueMapper: (value) => value });
    connection.execute({ portal: '', rows: 0 });
    super.prepare(connection);
    // pg notes a statement as prepared when the server says so: at first that is about this one.
    this.name = name;
    this.text = this.#enter;
  }

  override handleDataRow(message: unknown): void {
    if (this.#hasEntered) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.#hasEntered) {
      super.handleCommandComplete(message, connection);
      return;
    }
    this.#hasEntered = true;
    this.name = this.#own.name;
    this.text = this.#own.text;
  }

  override handleError(error: Error, connection: Connection): void {
    for (const name of [ENTER_NAME, this.#own.name ?? '']) {
      delete connection.submittedNamedStatements[name];
    }
    super.handleError(error, connection);
  }
}
