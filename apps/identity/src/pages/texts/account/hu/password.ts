import type { PasswordTexts } from '../en/password.ts';

export const password: PasswordTexts = {
  title: 'Jelszó módosítása',
  lead: 'Itt bejelentkezve marad. Mindenhol máshol kijelentkeztetjük, és a megbízható eszközei is újra kódot kérnek.',
  lastChanged: (when) => `Utolsó módosítás: ${when}`,
  neverChanged: 'Eddig még nem módosította.',
  submit: 'Jelszó módosítása',
  forgot: 'Elfelejtette a jelenlegi jelszavát?',
};
