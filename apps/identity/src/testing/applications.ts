import { randomUUID } from 'node:crypto';
import type { Database } from '../database.ts';
import { digest, newSecret } from '../oauth/secrets.ts';

/** A system application, with the secret that the database does not know. */
export interface TestApplication {
  readonly client_id: string;
  readonly client_secret: string;
}

/** Makes a system application with these scopes. */
export const makeApplication = async (
  database: Database,
  ...scopes: readonly string[]
): Promise<TestApplication> => {
  const client_id = `application-${randomUUID()}`;
  const client_secret = newSecret();
  await database.systemApplication.create({
    data: {
      clientId: client_id,
      name: client_id,
      secretHash: new Uint8Array(digest(client_secret)),
      scopes: [...scopes],
    },
  });
  return { client_id, client_secret };
};
