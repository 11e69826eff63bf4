import type { PasswordTexts } from '../en/password.ts';

export const password: PasswordTexts = {
  title: 'Passwort ändern',
  lead: 'Hier bleiben Sie angemeldet. Überall sonst werden Sie abgemeldet, und vertrauenswürdige Geräte fragen wieder nach einem Code.',
  lastChanged: (when) => `Zuletzt geändert: ${when}`,
  neverChanged: 'Sie haben es noch nie geändert.',
  submit: 'Passwort ändern',
  forgot: 'Aktuelles Passwort vergessen?',
};
