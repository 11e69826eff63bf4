import { type CredentialScheme, HttpError } from '@tessera/http-kit';
import type { Request } from 'express';

/** A bot, which acts in the channels of one tenant that it was added to (decision C14). */
export class BotCaller {
  readonly tenantId: string;
  readonly botId: string;
  /** A bot is no user. */
  readonly userUuid = null;

  constructor({ tenantId, botId }: { readonly tenantId: string; readonly botId: string }) {
    this.tenantId = tenantId;
    this.botId = botId;
  }
}

/** The credential of routes that only bots may call; see `botScheme`. */
export const BOT = 'bot';

/** 401: the same for every token that is missing, malformed, unknown or replaced, or of a deleted bot. */
export const botTokenInvalid = (): HttpError =>
  new HttpError(401, 'unauthenticated', 'A valid token in the header X-Bot-Token is required.');

const tokenOf = (req: Request): string => req.get('x-bot-token') ?? '';

/** The part of a token that is no secret: it names the bot. */
const PUBLIC_PART = /^[a-z]{1,10}_[\w-]{22}_[\w-]{22}(?=_)/;

/** What requests of bots are counted by: the address, and the part of the token that is no secret. */
export const botLimitKey = (req: Request, address: string): string =>
  `${address} ${PUBLIC_PART.exec(tokenOf(req))?.[0] ?? 'malformed'}`;

/** What the scheme of bot tokens asks. */
export interface BotDirectory {
  /** The bot of a token. */
  authenticate(
    token: string,
  ): Promise<{ readonly tenantId: string; readonly botId: string } | undefined>;
  /** Whether a tenant is neither suspended nor deleted. */
  isActive(tenantId: string): Promise<boolean>;
}

/** The scheme of bot tokens. The bots of a suspended tenant get the same response as those with a wrong token. */
export const botScheme = ({
  authenticate,
  isActive,
}: BotDirectory): CredentialScheme<BotCaller> => ({
  name: BOT,
  securitySchemes: {
    botToken: { type: 'apiKey', in: 'header', name: 'X-Bot-Token' },
  },
  async authenticate(req) {
    const bot = await authenticate(tokenOf(req));
    // Identity is only asked about the tenants of genuine tokens.
    if (!bot || !(await isActive(bot.tenantId))) throw botTokenInvalid();
    return new BotCaller(bot);
  },
});
