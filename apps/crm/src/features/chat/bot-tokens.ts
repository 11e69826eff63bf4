import { NIL } from 'uuid';
import type { Database } from '../../database.ts';
import { isSecretOf, tokenFormat } from '../../records/record-tokens.ts';
import { findBot } from './bots.repository.ts';

/** The tokens that bots authenticate with. */
export const botTokens = tokenFormat('tcb');

/** A bot that has authenticated. */
export interface AuthenticatedBot {
  readonly tenantId: string;
  readonly botId: string;
  readonly name: string;
}

/** What a malformed token is handled as, so that it takes as much work as any other wrong one. */
const NOBODY = { tenantId: NIL, id: NIL, secret: '' } as const;

/** The bot of a token; undefined if the token is malformed, replaced or of a deleted bot. */
export const authenticateBot = async (
  database: Pick<Database, 'forTenant'>,
  token: string,
): Promise<AuthenticatedBot | undefined> => {
  const { tenantId, id: botId, secret } = botTokens.read(token) ?? NOBODY;
  const found = await findBot(database.forTenant(tenantId), botId);
  const isGenuine = isSecretOf(secret, found?.token_hash);
  return found && isGenuine ? { tenantId, botId, name: found.name } : undefined;
};
