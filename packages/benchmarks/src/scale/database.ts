import type { openPool } from '@tessera/seeding';

/** A pool of connections to a database, as the superuser; statements take as long as they need. */
export type Database = ReturnType<typeof openPool>;
