import type { Mail, MailKind } from './mails.ts';

export interface LinkTargets {
  /** Base URL of identity. */
  readonly issuer: string;
  /** Base URL of the pages for users. */
  readonly pages: string;
}

type LinkOf = { readonly [K in MailKind]: (mail: Extract<Mail, { kind: K }>) => string | null };

const address = (base: string, path: string, query: Record<string, string> = {}): string => {
  const search = new URLSearchParams(query).toString();
  return `${base}${path}${search && `?${search}`}`;
};

/** The link of each kind of mail; null if it has none. */
export const mailLinks = ({ issuer, pages }: LinkTargets): LinkOf => {
  // For users who cannot sign in because somebody else changed the password.
  const newPassword = (): string => address(pages, '/password/forgot');
  const keepAccount = (): string => address(issuer, '/account/data');
  // Where users can dispute activity. Account pages are always identity's own.
  const activity = (): string => address(issuer, '/account/activity');
  const factorPages = { two_factor: '/account/two-factor', pin: '/account/pin' };
  return {
    email_verification: ({ data: { token } }) => address(issuer, '/email/verify', { token }),
    password_reset: ({ to, data: { token } }) =>
      address(pages, '/password/reset', { token, email: to }),
    password_changed: newPassword,
    new_device: activity,
    new_network: activity,
    factor_added: activity,
    factor_removed: ({ data: { seen, factor } }) =>
      seen ? activity() : address(issuer, factorPages[factor]),
    pin_changed: activity,
    recovery_code_used: activity,
    recovery_codes_replaced: activity,
    account_secured: activity,
    tenant_left: () => address(issuer, '/account/activity/not-me'),
    email_changed: newPassword,
    email_change: ({ data: { token } }) => address(issuer, '/email/change', { token }),
    email_change_requested: () => address(issuer, '/account/profile'),
    email_change_taken: () => address(issuer, '/account'),
    email_replaced: ({ data: { token } }) => address(issuer, '/email/undo', { token }),
    email_restored: newPassword,
    data_exported: newPassword,
    account_deletion_requested: keepAccount,
    account_deletion_reminder: keepAccount,
    account_deletion_refused: keepAccount,
    account_deleted: () => null,
    address_taken: newPassword,
    invitation: ({ data: { token } }) => address(pages, '/invitations/accept', { token }),
  };
};
