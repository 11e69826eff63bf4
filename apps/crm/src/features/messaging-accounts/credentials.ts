/** What the vault binds sealed credentials to: those of one account open in no other. */
export const credentialsPurpose = (accountId: string): string =>
  `messaging_accounts.sealed_credentials ${accountId}`;
