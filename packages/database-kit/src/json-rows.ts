import type { ClientBase } from 'pg';

/** About how many bytes of rows are in memory at once. */
const PIECE_BYTES = 1024 * 1024;
const FIRST_ROWS = 20;
const MAX_ROWS = 5000;

/**
 * The rows of a query, each as JSON text, in pieces: reads from a cursor, so that memory does not depend on their
 * number. The client must be in a transaction, and run nothing else until the last piece was read. Numbers have all
 * their digits, and binary values are hexadecimal.
 */
export async function* jsonRows(
  client: Pick<ClientBase, 'query'>,
  query: string,
  values: readonly unknown[] = [],
): AsyncGenerator<readonly string[]> {
  await client.query(
    `DECLARE json_rows NO SCROLL CURSOR FOR
     SELECT row_to_json(exported)::text AS json FROM (${query}) AS exported`,
    [...values],
  );
  for (let count = FIRST_ROWS; ; ) {
    const { rows } = await client.query<{ json: string }>(`FETCH ${count} FROM json_rows`);
    if (rows.length === 0) break;
    const piece = rows.map(({ json }) => json);
    yield piece;
    const bytes = piece.reduce((sum, json) => sum + json.length, 0);
    count = Math.max(1, Math.min(MAX_ROWS, Math.floor((PIECE_BYTES * piece.length) / bytes)));
  }
  await client.query('CLOSE json_rows');
}
