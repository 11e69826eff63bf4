import pg from 'pg';

/** Connects to a database for as long as a load takes. The statement that it interrupts reports a lost connection. */
export const openPool = (connectionString: string): pg.Pool => {
  const pool = new pg.Pool({ connectionString, application_name: 'tessera-seed' });
  pool.on('error', () => undefined);
  return pool;
};
