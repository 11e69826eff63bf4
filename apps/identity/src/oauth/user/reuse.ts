import type { KoaContextWithOIDC } from 'oidc-provider';
import { note } from '../../activity/activity.ts';
import { revokeUserTokens } from '../../tokens/revoke.ts';
import { current, currentChain } from './current.ts';

const isReuse = ({ status, oidc }: KoaContextWithOIDC): boolean =>
  status === 400 && oidc?.entities.RefreshToken?.consumed !== undefined;

/** Once a replaced refresh token comes back, nobody knows who has the other one: all ends (decision I4). */
export const endAllOnReuse = async (ctx: KoaContextWithOIDC): Promise<void> => {
  if (!isReuse(ctx)) return;
  const { db, news, origin } = current();
  const { userId, tenantId } = currentChain();
  news.push(await revokeUserTokens(db, { userId }, 'token_reused'));
  await note(db, { userId, tenantId, ...origin }, 'token_reused');
};
