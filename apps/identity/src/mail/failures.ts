/**
 * What a failed attempt means: `refused` mails are never accepted, `later` ones may be, `unanswered` ones make other mails
 * to the same domain wait, and while the mail server is `unavailable`, all mails wait.
 */
export type Verdict = 'refused' | 'later' | 'unanswered' | 'unavailable';

/** A mail was not accepted. */
export class DeliveryFailed extends Error {
  override readonly name = 'DeliveryFailed';
  readonly verdict: Verdict;

  constructor(verdict: Verdict, cause: unknown) {
    super(`The mail was not accepted (${verdict}).`, { cause });
    this.verdict = verdict;
  }
}

/** The properties of nodemailer's errors that say what failed. */
interface SmtpError {
  readonly code?: string;
  readonly command?: string;
  readonly response?: string;
  readonly responseCode?: number;
}

/** The server is about to close the connection, whatever it was asked (RFC 5321 section 4.2). */
const CLOSING = 421;
const BAD_SEQUENCE = 503;
/** Authentication is required, or not accepted (RFC 4954 section 6). */
const AUTHENTICATION = new Set([454, 530, 534, 535, 538]);
/** The mail is larger than the server accepts. */
const SIZE = new Set([523, 552]);
/**
 * A policy refused the mail (RFC 3463): the server does not relay for this service, or does not accept the sender. An
 * administrator can change that, and the mail is not lost until then.
 */
const POLICY = /^\d{3}[ -]5\.7\.\d/;

/**
 * The meaning of an error of SMTP. `inSession` says whether the server has accepted the connection, TLS and the
 * credentials; what fails before concerns the server and no mail.
 */
export const verdictOf = (error: SmtpError, inSession: boolean): Verdict => {
  const { code, command, response = '', responseCode } = error;
  if (!inSession) return 'unavailable';
  if (responseCode === undefined) {
    // Without asking the server: no valid recipient, or a mail that is larger than the server has announced. Otherwise
    // the connection broke or timed out, and the server may have accepted the mail.
    return code === 'EENVELOPE' || code === 'EMESSAGE' ? 'refused' : 'unanswered';
  }
  if (command === 'MAIL FROM') {
    // It knows no recipient yet.
    if (responseCode === CLOSING || AUTHENTICATION.has(responseCode)) return 'unavailable';
    return SIZE.has(responseCode) ? 'refused' : 'later';
  }
  if (responseCode === CLOSING) return 'unanswered';
  // The server may require credentials for some recipients only: mails to others are not delayed.
  const isTemporary =
    responseCode < 500 || responseCode === BAD_SEQUENCE || AUTHENTICATION.has(responseCode);
  return isTemporary || POLICY.test(response) ? 'later' : 'refused';
};
