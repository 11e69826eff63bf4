/** What each kind of mail tells, besides who gets it. */
export interface MailData {
  /** Follow the link: the address is yours. */
  readonly email_verification: Secret;
  /** Follow the link to choose a new password. */
  readonly password_reset: Named & Secret;
  /** The password was changed or reset. */
  readonly password_changed: Named;
  /** Somebody signed in from where nobody did before. */
  readonly new_device: Named & Seen;
  /** Somebody signed in from a known device in another network. */
  readonly new_network: Named & Seen;
  /** The account has got another factor. */
  readonly factor_added: Named & Seen & { readonly factor: MailedFactor };
  /** The account has lost a factor. */
  readonly factor_removed: Named & {
    readonly factor: MailedFactor;
    /** Null where an administrator did it. */
    readonly seen: Seen | null;
  };
  /** The account has another PIN. */
  readonly pin_changed: Named & Seen;
  /** Somebody proved the second factor by a recovery code. */
  readonly recovery_code_used: Named & Seen & { readonly left: number };
  /** The account has new recovery codes, and the old ones are dead. */
  readonly recovery_codes_replaced: Named & Seen;
  /** The person reported activity that was not theirs, and everybody else was signed out. */
  readonly account_secured: Named & Seen & { readonly by: 'password' | 'link' };
  /** The person left a tenant. */
  readonly tenant_left: Named & Seen & { readonly tenant: string };
  /** The account has another address; to the old one and to the new one. */
  readonly email_changed: Named & { readonly newEmail: string };
  /** Follow the link: the address is yours, and the account shall have it. To the new address. */
  readonly email_change: Secret;
  /** Somebody asked for another address; to the one that the account has. */
  readonly email_change_requested: Named & Seen & { readonly newEmail: string };
  /** Somebody asked for this address for their account; to who has it. */
  readonly email_change_taken: Named;
  /** The account has another address; to the old one, which can undo it. */
  readonly email_replaced: Named & Secret & { readonly newEmail: string };
  /** A change of the address was undone; to the address that the account has again, and to the other one. */
  readonly email_restored: Named & { readonly email: string };
  /** Everything that is held about the account was downloaded. */
  readonly data_exported: Named & Seen;
  /** Follow the link to keep the account. */
  readonly account_deletion_requested: Named & Seen & { readonly dueAt: Date };
  readonly account_deletion_reminder: Named & Pick<Seen, 'timeZone'> & { readonly dueAt: Date };
  /** The account stays although its time had come. */
  readonly account_deletion_refused: Named & {
    /** Names of those that it is the last owner of. */
    readonly tenants: readonly string[];
    readonly isLastAdministrator: boolean;
  };
  /** The account is gone. */
  readonly account_deleted: Named;
  /** Somebody wanted to register with an address that has an account. */
  readonly address_taken: Named;
  /** Follow the link to join a tenant. */
  readonly invitation: Secret & {
    readonly tenant: string;
    /** Who invites; null where it is a machine. */
    readonly inviter: string | null;
  };
}

interface Named {
  /** Null where it is not known whether the account is the reader's. */
  readonly firstName: string | null;
}

export type MailedFactor = 'two_factor' | 'pin';

/** Where and when somebody did something. */
export interface Seen {
  readonly device: { readonly browser: string; readonly os: string };
  readonly ipAddress: string | null;
  readonly at: Date;
  /** IANA name. */
  readonly timeZone: string;
}

interface Secret {
  /** The one-time token that the link carries. */
  readonly token: string;
  /** Seconds that it is good for. */
  readonly lifetime: number;
}

export type MailKind = keyof MailData;

/** A mail as a feature asks for it. */
export type Mail = {
  readonly [K in MailKind]: {
    readonly kind: K;
    readonly to: string;
    /** The reader's language; English where there are no texts in it. */
    readonly locale: string;
    readonly data: MailData[K];
  };
}[MailKind];

/** A mail as it leaves. */
export interface Message {
  /** The same at every attempt. */
  readonly id: string;
  readonly kind: MailKind;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}
