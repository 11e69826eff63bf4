/** What each kind of mail tells, besides who gets it. */
export interface MailData {
  /** Follow the link: the address is yours. */
  readonly email_verification: Secret;
  /** Follow the link to choose a new password. */
  readonly password_reset: Named & Secret;
  /** The password was changed or reset. */
  readonly password_changed: Named;
  /** Somebody signed in from where nobody did before. */
  readonly new_device: Named & SeenDevice;
  /** Somebody signed in from a known device in another network. */
  readonly new_network: Named & SeenDevice;
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
  readonly firstName: string;
}

interface SeenDevice {
  /** In words: `Firefox on Windows`. */
  readonly device: string;
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
