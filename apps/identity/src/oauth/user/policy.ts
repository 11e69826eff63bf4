import { interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import { isTrusted } from './clients.ts';
import { current } from './current.ts';

const { Check, Prompt } = interactionPolicy;

/** By name of the prompt, the page that asks for it. */
export type PromptName = 'login' | 'pin' | 'change_password' | 'consent';

const untilDone = (name: PromptName, description: string, isPending: () => boolean) =>
  new Prompt({ name }, new Check(name, description, 'interaction_required', isPending));

/**
 * What stands between a request and its code, in this order: signing in, the PIN, a password that has to
 * be changed, and consent, for which trusted clients do not have to ask.
 */
export const promptPolicy = (): interactionPolicy.DefaultPolicy => {
  const policy = interactionPolicy.base();
  const consent = policy.get('consent');
  consent?.checks.remove('native_client_prompt');
  for (const check of consent?.checks ?? []) {
    const isNeeded = check.check;
    check.check = (ctx: KoaContextWithOIDC) => !isTrusted(ctx.oidc.client) && isNeeded(ctx);
  }
  policy.add(
    untilDone('pin', 'the PIN is required', () => current().session?.pinPending ?? false),
    1,
  );
  policy.add(
    untilDone(
      'change_password',
      'the password has to be changed',
      () => current().session?.forcePasswordChange ?? false,
    ),
    2,
  );
  return policy;
};
