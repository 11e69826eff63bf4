import { BotCaller } from '../bots/bot-access.ts';
import type { Caller } from '../http.ts';
import type { TenantCaller } from './kind.ts';

/** Who changes a record, and through what. */
export interface Actor {
  /** `system` is a service with a system token, or CRM itself. */
  readonly type: 'user' | 'service_account' | 'client' | 'bot' | 'system';
  /** The user, or the user of the service account; null for clients and services (decision C21). */
  readonly userId: string | null;
  /** The OAuth client that the token was issued to. */
  readonly clientId: string | null;
  /** The token; of a service account, this is the id of its API key, and of a bot its own. */
  readonly tokenId: string | null;
  /** The administrator who acts as the user. */
  readonly impersonatorId: string | null;
}

/** CRM itself, or a service with a system token. */
export const SYSTEM_ACTOR: Actor = {
  type: 'system',
  userId: null,
  clientId: null,
  tokenId: null,
  impersonatorId: null,
};

/** Returns the actor of a caller. */
export const actorOf = (caller: TenantCaller & Partial<Caller>): Actor => {
  if (caller instanceof BotCaller) {
    const { botId: tokenId } = caller;
    return { type: 'bot', userId: null, clientId: null, tokenId, impersonatorId: null };
  }
  const { principal, userUuid = null, impersonatorId = null } = caller;
  if (!principal) return SYSTEM_ACTOR;
  const { type, id, client_id: clientId, token_id: tokenId } = principal;
  return {
    type,
    userId: userUuid,
    clientId: clientId ?? (type === 'client' ? id : null),
    tokenId,
    impersonatorId,
  };
};
