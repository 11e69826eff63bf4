import type { KoaContextWithOIDC, interactionPolicy as Policy } from 'oidc-provider';
import { interactionPolicy } from '../oidc-provider.ts';
import { isTrusted } from './clients.ts';
import { current } from './current.ts';

const { Check, Prompt } = interactionPolicy;

/** By name of the prompt, the page that asks for it. */
export type PromptName =
  | 'create'
  | 'login'
  | 'select_account'
  | 'pin'
  | 'confirm_address'
  | 'change_password'
  | 'consent';

const untilDone = (name: PromptName, description: string, isPending: () => boolean) =>
  new Prompt({ name }, new Check(name, description, 'interaction_required', isPending));

/** A page that a client may ask for, whoever is signed in. */
const onRequest = (name: PromptName) => new Prompt({ name, requestable: true });

/**
 * What stands between a request and its code, in this order: registering, signing in, choosing an account,
 * the PIN, an address that has to be confirmed, a password that has to be changed, and consent, for which
 * trusted clients do not have to ask.
 */
export const promptPolicy = (): Policy.DefaultPolicy => {
  const policy = interactionPolicy.base();
  const consent = policy.get('consent');
  consent?.checks.remove('native_client_prompt');
  for (const check of consent?.checks ?? []) {
    const isNeeded = check.check;
    check.check = (ctx: KoaContextWithOIDC) => !isTrusted(ctx.oidc.client) && isNeeded(ctx);
  }
  policy.add(onRequest('create'), 0);
  policy.add(onRequest('select_account'), 2);
  policy.add(
    untilDone('pin', 'the PIN is required', () => current().session?.pinPending ?? false),
    3,
  );
  policy.add(
    untilDone('confirm_address', 'the email address has to be confirmed', () => {
      const { session } = current();
      return session !== undefined && !session.isConfirmed;
    }),
    4,
  );
  policy.add(
    untilDone(
      'change_password',
      'the password has to be changed',
      () => current().session?.forcePasswordChange ?? false,
    ),
    5,
  );
  return policy;
};
