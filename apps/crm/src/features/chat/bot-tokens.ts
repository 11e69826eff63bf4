import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Database } from '../../database.ts';
import { findBot } from './bots.repository.ts';

const SECRET_BYTES = 32;
const PREFIX = 'tcb';
const TOKEN = /^tcb_([A-Za-z0-9_-]{22})_([A-Za-z0-9_-]{22})_([A-Za-z0-9_-]{43})$/;

/** A new secret for the token of a bot: 256 random bits. */
export const newBotSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/** What is stored of a secret: SHA-256, in hexadecimal. It is too random to be guessed from that. */
export const hashBotSecret = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex');

const encodeId = (id: string): string =>
  Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');

const decodeId = (text: string): string =>
  Buffer.from(text, 'base64url')
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** The token that a bot authenticates with. It names the tenant and the bot, so that a request finds both. */
export const botToken = (tenantId: string, botId: string, secret: string): string =>
  [PREFIX, encodeId(tenantId), encodeId(botId), secret].join('_');

/** A bot that has authenticated. */
export interface AuthenticatedBot {
  readonly tenantId: string;
  readonly botId: string;
  readonly name: string;
}

/**
 * The bot of a token; undefined if the token is malformed, replaced or of a deleted bot. Secrets are compared in
 * constant time, also where there is no bot.
 */
export const authenticateBot = async (
  database: Database,
  token: string,
): Promise<AuthenticatedBot | undefined> => {
  const [, tenant, bot, secret] = TOKEN.exec(token) ?? [];
  if (tenant === undefined || bot === undefined || secret === undefined) return undefined;
  const [tenantId, botId] = [decodeId(tenant), decodeId(bot)];
  const found = await findBot(database.forTenant(tenantId), botId);
  const presented = Buffer.from(hashBotSecret(secret), 'hex');
  const expected = Buffer.from(found?.token_hash ?? hashBotSecret(''), 'hex');
  const isGenuine = timingSafeEqual(presented, expected);
  return found && isGenuine ? { tenantId, botId, name: found.name } : undefined;
};
