/** The data of each kind of mail. */
export interface MailData {
  /** Confirms an email address. */
  readonly email_verification: Secret;
  /** Link to choose a new password. */
  readonly password_reset: Salutation & Secret;
  /** The password was changed or reset. */
  readonly password_changed: Salutation;
  /** Sign-in from a new device. */
  readonly new_device: Salutation & Seen;
  /** Sign-in from a known device in a new network. */
  readonly new_network: Salutation & Seen;
  /** A factor was added. */
  readonly factor_added: Salutation & Seen & { readonly factor: MailedFactor };
  /** A factor was removed. */
  readonly factor_removed: Salutation & {
    readonly factor: MailedFactor;
    /** Null if an administrator removed it. */
    readonly seen: Seen | null;
  };
  /** The PIN was changed. */
  readonly pin_changed: Salutation & Seen;
  /** A recovery code was used. */
  readonly recovery_code_used: Salutation & Seen & { readonly left: number };
  /** The recovery codes were replaced. */
  readonly recovery_codes_replaced: Salutation & Seen;
  /** The user disputed activity, and all other sessions have ended. */
  readonly account_secured: Salutation & Seen & { readonly by: 'password' | 'link' };
  /** The user left a tenant. */
  readonly tenant_left: Salutation & Seen & { readonly tenant: string };
  /** The address was changed; sent to the old and the new address. */
  readonly email_changed: Salutation & { readonly newEmail: string };
  /** Confirms a new address; sent to the new address. */
  readonly email_change: Secret;
  /** A change of the address was requested; sent to the current address. */
  readonly email_change_requested: Salutation & Seen & { readonly newEmail: string };
  /** Another account requested this address; sent to its holder. */
  readonly email_change_taken: Salutation;
  /** The address was changed; sent to the old address with a link that undoes the change. */
  readonly email_replaced: Salutation & Secret & { readonly newEmail: string };
  /** A change of the address was undone; sent to both addresses. */
  readonly email_restored: Salutation & { readonly email: string };
  /** Personal data was exported. */
  readonly data_exported: Salutation & Seen;
  /** Deletion was requested; the link cancels it. */
  readonly account_deletion_requested: Salutation & Seen & { readonly dueAt: Date };
  readonly account_deletion_reminder: Salutation &
    Pick<Seen, 'timeZone'> & { readonly dueAt: Date };
  /** The account could not be deleted. */
  readonly account_deletion_refused: Salutation & {
    /** Names of tenants whose last owner is the user. */
    readonly tenants: readonly string[];
    readonly isLastAdministrator: boolean;
  };
  /** The account was deleted. */
  readonly account_deleted: Salutation;
  /** A registration used the address of an existing account. */
  readonly address_taken: Salutation;
  /** Invitation to a tenant. */
  readonly invitation: Secret & {
    readonly tenant: string;
    /** Name of the inviter; null for a system application. */
    readonly inviter: string | null;
  };
}

interface Salutation {
  /** Null if the account may not belong to the recipient. */
  readonly firstName: string | null;
}

export type MailedFactor = 'two_factor' | 'pin';

/** Device, address and time of an action. */
export interface Seen {
  readonly device: { readonly browser: string; readonly os: string };
  readonly ipAddress: string | null;
  readonly at: Date;
  /** IANA name. */
  readonly timeZone: string;
}

interface Secret {
  /** One-time token in the link. */
  readonly token: string;
  /** Lifetime of the token in seconds. */
  readonly lifetime: number;
}

export type MailKind = keyof MailData;

/** A mail to enqueue. */
export type Mail = {
  readonly [K in MailKind]: {
    readonly kind: K;
    readonly to: string;
    /** Language of the recipient; English if there are no texts in it. */
    readonly locale: string;
    readonly data: MailData[K];
  };
}[MailKind];

/** A composed mail. */
export interface Message {
  /** The same for all delivery attempts. */
  readonly id: string;
  readonly kind: MailKind;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}
