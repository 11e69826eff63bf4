import type { ClientBase } from 'pg';
import { TENANT_ROLE } from '../../row-level-security.ts';

type Client = Pick<ClientBase, 'query'>;

interface Answer {
  readonly nodename: string;
  readonly nodeport: number;
  readonly success: boolean;
  readonly result: string;
}

const FIND_EXTENSION = "SELECT FROM pg_extension WHERE extname = 'citus'";

/** Runs a statement on each worker and returns its first value there. */
const askWorkers = async (client: Client, statement: string): Promise<Answer[]> => {
  const { rows } = await client.query<Answer>(
    `SELECT nodename, nodeport, success, result FROM run_command_on_workers($1)
     JOIN pg_dist_node USING (nodename, nodeport)`,
    [statement],
  );
  for (const { nodename, nodeport, success, result } of rows) {
    if (!success) throw new Error(`The worker ${nodename}:${nodeport} failed: ${result}`);
  }
  return rows;
};

/** Throws unless the connection is to the coordinator of a cluster with workers that may hold shards. */
export const requireCoordinator = async (client: Client): Promise<void> => {
  if (!(await client.query(FIND_EXTENSION)).rowCount) {
    throw new Error(
      'The extension citus is not installed in this database. As an administrator: CREATE EXTENSION citus.',
    );
  }
  const { rows } = await client.query<{ isCoordinator: boolean; workers: number }>(
    `SELECT citus_is_coordinator() AS "isCoordinator",
       (SELECT count(*)::int FROM pg_dist_node WHERE noderole = 'primary' AND shouldhaveshards) AS workers`,
  );
  if (!rows[0]?.isCoordinator) {
    throw new Error('DATABASE_URL is not that of the coordinator of the Citus cluster.');
  }
  if (rows[0].workers === 0) {
    throw new Error(
      'The cluster has no worker for the tables. On the coordinator: SELECT citus_add_node(<host>, <port>).',
    );
  }
};

/** Throws unless the roles that the statements of a tenant use on the coordinator exist on every worker. */
export const requireRoles = async (client: Client): Promise<void> => {
  const { rows } = await client.query<{ name: string }>(
    'SELECT rolname AS name FROM pg_roles WHERE rolname IN (current_user, $1)',
    [TENANT_ROLE],
  );
  for (const { name } of rows) {
    const answers = await askWorkers(
      client,
      `SELECT count(*) FROM pg_roles WHERE rolname = '${name.replaceAll("'", "''")}'`,
    );
    const missing = answers.filter(({ result }) => result === '0');
    if (missing.length === 0) continue;
    const where = missing.map(({ nodename, nodeport }) => `${nodename}:${nodeport}`).join(', ');
    throw new Error(`The role ${name} does not exist on ${where}. Create it there as well.`);
  }
};

/** The names of the tables that the cluster knows as distributed or reference tables. */
export const knownTables = async (client: Client): Promise<ReadonlySet<string>> => {
  const { rows } = await client.query<{ name: string }>(
    "SELECT logicalrelid::text AS name FROM pg_dist_partition WHERE partmethod = 'h' OR repmodel = 't'",
  );
  return new Set(rows.map(({ name }) => name));
};
