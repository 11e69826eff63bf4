import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import pg from 'pg';
import { until } from './until.ts';

const OBJECT_IN_USE = '55006';

interface Node {
  readonly host: string;
  readonly port: number;
  readonly isCoordinator: boolean;
}

/** How a database of tests becomes a distributed one. */
export interface CitusPreparation {
  /** Roles that the tables need on every node; the cluster keeps them. */
  readonly roles: readonly string[];
  /** Prepares the database of the coordinator before it knows Citus. */
  before(url: string): Promise<unknown>;
  /** Distributes the tables; the database then has the nodes of the cluster. */
  distribute(url: string): Promise<unknown>;
}

const queryEach = async (url: string, statements: readonly string[]): Promise<pg.QueryResult[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const results: pg.QueryResult[] = [];
    for (const statement of statements) results.push(await client.query(statement));
    return results;
  } finally {
    await client.end();
  }
};

const at = (url: string, { host, port }: Node, database: string): string => {
  const target = new URL(url);
  target.hostname = host;
  target.port = `${port}`;
  target.pathname = `/${encodeURIComponent(database)}`;
  return target.href;
};

/** The nodes of the cluster, the coordinator first. `url` is that of a database of the coordinator with Citus. */
export const citusNodes = async (url: string): Promise<Node[]> => {
  const [result] = await queryEach(url, [
    'SELECT nodename AS host, nodeport AS port, groupid = 0 AS "isCoordinator" FROM pg_dist_node ORDER BY groupid',
  ]);
  const nodes: Node[] = result?.rows ?? [];
  if (!nodes[0]?.isCoordinator || nodes.length < 2) {
    throw new Error(
      'CITUS_URL must name a database with Citus, a coordinator and at least one worker.',
    );
  }
  return nodes;
};

/** Runs statements on each node, in the database that `url` names there. */
const onEachNode = async (
  url: string,
  nodes: readonly Node[],
  statements: readonly string[],
): Promise<void> => {
  const database = decodeURIComponent(new URL(url).pathname.slice(1));
  for (const node of nodes) {
    // Citus warns that CREATE DATABASE and DROP DATABASE concern one node only.
    await queryEach(at(url, node, database), ['SET client_min_messages = error', ...statements]);
  }
};

/** Creates a role on the nodes that do not have it. */
const createRole = (name: string): string =>
  `DO $$ BEGIN CREATE ROLE ${pg.escapeIdentifier(name)}; EXCEPTION WHEN duplicate_object THEN NULL; END $$`;

const createTemplate = async (
  url: string,
  nodes: readonly [Node, ...Node[]],
  template: string,
  { roles, before, distribute }: CitusPreparation,
): Promise<void> => {
  const quoted = pg.escapeIdentifier(template);
  const [coordinator, ...workers] = nodes;
  const own = at(url, coordinator, template);
  await onEachNode(url, nodes, [
    `DROP DATABASE IF EXISTS ${quoted} WITH (FORCE)`,
    `CREATE DATABASE ${quoted}`,
    ...roles.map(createRole),
  ]);
  await before(own);
  await onEachNode(own, nodes, ['CREATE EXTENSION citus']);
  const literal = ({ host, port }: Node) => `${pg.escapeLiteral(host)}, ${port}`;
  await queryEach(own, [
    `SELECT citus_set_coordinator_host(${literal(coordinator)})`,
    ...workers.map((worker) => `SELECT citus_add_node(${literal(worker)})`),
  ]);
  await distribute(own);
  await onEachNode(url, nodes, [
    `ALTER DATABASE ${quoted} WITH IS_TEMPLATE true ALLOW_CONNECTIONS false`,
    // Connections between the nodes stay open for a while.
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${pg.escapeLiteral(template)}`,
  ]);
};

/** Drops the databases whose names begin with this prefix on all nodes. */
const dropDatabases = async (
  url: string,
  nodes: readonly Node[],
  prefix: string,
): Promise<void> => {
  const [result] = await queryEach(url, [
    `SELECT datname AS name FROM pg_database WHERE starts_with(datname, ${pg.escapeLiteral(prefix)})`,
  ]);
  for (const { name } of result?.rows ?? []) {
    const quoted = pg.escapeIdentifier(name);
    // The background processes of Citus on the other nodes would connect again.
    await onEachNode(url, nodes, [
      `ALTER DATABASE ${quoted} WITH IS_TEMPLATE false ALLOW_CONNECTIONS false`,
    ]);
    await until(async () => {
      try {
        await onEachNode(url, nodes, [`DROP DATABASE IF EXISTS ${quoted} WITH (FORCE)`]);
        return true;
      } catch (error) {
        // They may take longer to end than PostgreSQL waits for them.
        if ((error as pg.DatabaseError).code !== OBJECT_IN_USE) throw error;
        return false;
      }
    });
  }
};

/** The temporary folder of the test file that last dropped databases; each file has one of its own. */
let droppedBy: string | undefined;

/**
 * Creates a database on all nodes of a Citus cluster, a copy of a template that is prepared once per `run`. Drops the
 * databases that the same worker of Jest created for earlier test files: Citus has background processes for each.
 */
export const freshCitusDatabase = async (
  url: string,
  run: string,
  preparation: CitusPreparation,
): Promise<string> => {
  const nodes = (await citusNodes(url)) as [Node, ...Node[]];
  const template = `crm_citus_${run}`;
  const own = `${template}_${process.env.JEST_WORKER_ID}_`;
  const name = `${own}${randomUUID()}`;
  if (droppedBy !== tmpdir()) await dropDatabases(url, nodes, own);
  droppedBy = tmpdir();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [template]);
    const { rowCount } = await client.query(
      'SELECT FROM pg_database WHERE datname = $1 AND datistemplate AND NOT datallowconn',
      [template],
    );
    if (!rowCount) await createTemplate(url, nodes, template, preparation);
    await onEachNode(url, nodes, [
      `CREATE DATABASE ${pg.escapeIdentifier(name)} TEMPLATE ${pg.escapeIdentifier(template)}`,
    ]);
  } finally {
    await client.end();
  }
  return at(url, nodes[0], name);
};

/** Drops all databases of a run. */
export const dropCitusDatabases = async (url: string, run: string): Promise<void> =>
  dropDatabases(url, await citusNodes(url), `crm_citus_${run}`);
