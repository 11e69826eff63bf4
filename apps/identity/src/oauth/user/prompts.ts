import type { Configuration, KoaContextWithOIDC, interactionPolicy as Policy } from 'oidc-provider';
import { interactionPolicy } from '../oidc-provider.ts';
import { returnUrlOfStored } from './authorize.ts';
import type { Pages } from './pages.ts';
import { requestContext } from './request-context.ts';
import { isTrusted } from './stores/clients.ts';
import type { WebSession } from './stores/web-sessions.ts';

const { Check, Prompt, base } = interactionPolicy;

/** Something that must be done before a code is issued, and the page that does it. */
interface Step {
  readonly prompt: Policy.Prompt;
  /** `uid` identifies a request that the provider has stored. */
  page(pages: Pages, returnTo: string, uid: string): string;
}

/** A step that a client can ask for with `prompt`, whoever is signed in. */
const requestable = (name: string): Policy.Prompt => new Prompt({ name, requestable: true });

/** A step that a session needs as long as a condition holds. */
const requiredWhile = (
  name: string,
  description: string,
  isPending: (session: WebSession) => boolean,
): Policy.Prompt => {
  const check = (): boolean => {
    const { session } = requestContext();
    return session !== undefined && isPending(session);
  };
  return new Prompt({ name }, new Check(name, description, 'interaction_required', check));
};

/** A prompt of the provider's own, with its checks. */
const provided = (name: 'login' | 'consent'): Policy.Prompt => {
  const prompt = base().get(name);
  if (!prompt) throw new Error(`oidc-provider has no prompt ${name}.`);
  return prompt;
};

/** Native apps are asked like any other client, and trusted clients need no consent (decision I1). */
const consentUnlessTrusted = (): Policy.Prompt => {
  const consent = provided('consent');
  consent.checks.remove('native_client_prompt');
  for (const check of consent.checks) {
    const isNeeded = check.check;
    check.check = (ctx: KoaContextWithOIDC) => !isTrusted(ctx.oidc.client) && isNeeded(ctx);
  }
  return consent;
};

/** What stands between an authorization request and its code, in this order. */
const steps = (): readonly Step[] => [
  { prompt: requestable('create'), page: (pages, returnTo) => pages.create(returnTo) },
  { prompt: provided('login'), page: (pages, returnTo) => pages.signIn(returnTo) },
  {
    prompt: requestable('select_account'),
    page: (pages, returnTo) => pages.selectAccount(returnTo),
  },
  {
    prompt: requiredWhile('pin', 'the PIN is required', ({ pinPending }) => pinPending),
    page: (pages, returnTo) => pages.pin(returnTo),
  },
  {
    prompt: requiredWhile(
      'confirm_address',
      'the email address has to be confirmed',
      ({ isConfirmed }) => !isConfirmed,
    ),
    page: (pages, returnTo) => pages.confirmAddress(returnTo),
  },
  {
    prompt: requiredWhile(
      'change_password',
      'the password has to be changed',
      ({ forcePasswordChange }) => forcePasswordChange,
    ),
    page: (pages, returnTo) => pages.changePassword(returnTo),
  },
  { prompt: consentUnlessTrusted(), page: (pages, _returnTo, uid) => pages.consent(uid) },
];

/** Where a page returns to. A request that continues after consent has no URL of its own, but is stored. */
const returnToOf = ({ oidc: { provider, params = {} } }: KoaContextWithOIDC): string =>
  requestContext().returnTo ?? returnUrlOfStored(provider.issuer, params);

/** The steps as the provider takes them. */
export const interactionsOf = (pages: Pages): NonNullable<Configuration['interactions']> => {
  const all = steps();
  const policy = base();
  policy.clear();
  for (const { prompt } of all) policy.add(prompt);
  return {
    policy,
    url: (ctx, { prompt: { name }, uid }) => {
      const step = all.find(({ prompt }) => prompt.name === name);
      if (!step) throw new Error(`There is no page for the prompt ${name}.`);
      return step.page(pages, returnToOf(ctx), uid);
    },
  };
};
