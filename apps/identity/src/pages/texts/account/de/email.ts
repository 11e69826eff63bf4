import type { EmailTexts } from '../en/email.ts';

export const email: EmailTexts = {
  title: 'E-Mail-Adresse ändern',
  lead: (current) =>
    `Wir senden einen Link an die neue Adresse. Bis Sie die Adresse damit bestätigen, melden Sie sich weiter mit ${current} an.`,
  newAddress: 'Neue E-Mail-Adresse',
  submit: 'Link senden',
  undo: 'Wir benachrichtigen auch Ihre bisherige Adresse. Von dort lässt sich die Änderung einige Tage lang rückgängig machen.',
  back: 'Zurück zum Profil',
  pendingTitle: 'Wartet auf Ihre Bestätigung',
  pending: (address, until) =>
    `Wir haben einen Link an ${address} gesendet. Er ist gültig bis ${until}. Ihre E-Mail-Adresse ändert sich, sobald Sie ihn öffnen und die neue Adresse bestätigen.`,
  resend: 'Erneut senden',
  cancel: 'Änderung abbrechen',
};
