import type pg from 'pg';

/** How long a server may take to confirm the end of a connection, in milliseconds. */
const LIMIT_MS = 1000;

/** What pg does not declare of a client. */
interface Destroyable {
  readonly connection: { readonly stream: { destroy(): unknown } };
}

/** Ends a connection; cuts it off after a second, because a server that has vanished never confirms the end. Never rejects. */
export const closeConnection = async (client: pg.Client): Promise<void> => {
  const limit = setTimeout(() => {
    (client as unknown as Destroyable).connection.stream.destroy();
  }, LIMIT_MS);
  await client.end().catch(() => undefined);
  clearTimeout(limit);
};
