import { duration, moment } from './format.ts';
import type { Texts } from './texts.ts';

const lasting = (seconds: number): string =>
  `Der Link funktioniert einmal und gilt ${duration('de', seconds)}.`;

export const de: Texts = {
  copyTheAddress:
    'Falls die Schaltfläche nicht funktioniert, kopieren Sie diese Adresse in Ihren Browser:',
  whyThisMail: 'Diese E-Mail wurde automatisch versandt. Antworten darauf werden nicht gelesen.',
  mails: {
    email_verification: ({ lifetime }) => ({
      subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
      greeting: 'Guten Tag,',
      paragraphs: ['bitte bestätigen Sie, dass diese E-Mail-Adresse Ihre ist.'],
      action: 'Adresse bestätigen',
      notes: [
        `Der Link gilt ${duration('de', lifetime)}.`,
        'Sie haben sich nicht registriert? Dann ist nichts zu tun: Ohne Ihre Bestätigung wird die Adresse nicht verwendet.',
      ],
    }),
    password_reset: ({ firstName, lifetime }) => ({
      subject: 'Neues Passwort wählen',
      greeting: `Guten Tag ${firstName},`,
      paragraphs: [
        'jemand, vermutlich Sie, hat ein neues Passwort für Ihr Konto angefordert.',
        'Wählen Sie es hier. Danach werden Sie überall abgemeldet.',
      ],
      action: 'Neues Passwort wählen',
      notes: [
        lasting(lifetime),
        'Sie haben es nicht angefordert? Dann ist nichts zu tun: Ihr Passwort bleibt, wie es ist.',
      ],
    }),
    password_changed: ({ firstName }) => ({
      subject: 'Ihr Passwort wurde geändert',
      greeting: `Guten Tag ${firstName},`,
      paragraphs: ['das Passwort Ihres Kontos wurde soeben geändert.'],
      action: 'Das war ich nicht',
      notes: [
        'Wenn Sie es waren, ist nichts zu tun. Wenn nicht, wählen Sie sofort ein neues Passwort und informieren Sie Ihre Administration.',
      ],
    }),
    new_device: ({ firstName, device, ipAddress, at, timeZone }) => ({
      subject: 'Anmeldung von einem neuen Gerät',
      greeting: `Guten Tag ${firstName},`,
      paragraphs: [
        'bei Ihrem Konto hat sich jemand von einem Gerät angemeldet, das wir bisher nicht kannten:',
        `${device}${ipAddress ? `, Adresse ${ipAddress}` : ''}, ${moment('de', at, timeZone)}.`,
      ],
      action: 'Das war ich nicht',
      notes: [
        'Wenn Sie es waren, ist nichts zu tun. Wenn nicht, wählen Sie ein neues Passwort: Das beendet jede Anmeldung.',
      ],
    }),
    address_taken: ({ firstName }) => ({
      subject: 'Sie haben bereits ein Konto',
      greeting: `Guten Tag ${firstName},`,
      paragraphs: [
        'jemand, vermutlich Sie, wollte sich mit dieser E-Mail-Adresse registrieren. Zu ihr gibt es bereits ein Konto, deshalb wurde keines angelegt.',
        'Melden Sie sich wie gewohnt an. Wenn Sie das Passwort nicht mehr wissen, wählen Sie ein neues.',
      ],
      action: 'Neues Passwort wählen',
      notes: ['Sie waren es nicht? Dann ist nichts zu tun: Ihr Konto ist unverändert.'],
    }),
    invitation: ({ tenant, inviter, lifetime }) => ({
      subject: `Einladung zu ${tenant}`,
      greeting: 'Guten Tag,',
      paragraphs: [
        inviter ? `${inviter} lädt Sie zu ${tenant} ein.` : `Sie sind zu ${tenant} eingeladen.`,
      ],
      action: 'Einladung annehmen',
      notes: [lasting(lifetime), 'Sie wissen nicht, worum es geht? Dann ist nichts zu tun.'],
    }),
  },
};
