import type { NotMeTexts } from '../en/not-me.ts';

export const notMe: NotMeTexts = {
  title: 'Konto sichern',
  lead: 'Wenn Sie das nicht waren, hat möglicherweise jemand anderes Zugriff auf Ihr Konto. Legen Sie jetzt ein neues Passwort fest.',
  question: 'Was Sie nicht kennen',
  effects: 'Wenn Sie das neue Passwort speichern:',
  effectList: [
    'Alle anderen Geräte und Apps werden abgemeldet. Hier bleiben Sie angemeldet.',
    'Die Zwei-Faktor-Authentifizierung wird auf jedem Gerät wieder verlangt, falls sie eingeschaltet ist.',
    'Eine noch nicht bestätigte Änderung Ihrer E-Mail-Adresse wird verworfen.',
    'Sie erhalten eine E-Mail, und wir vermerken es in Ihrer Aktivität.',
  ],
  submit: 'Konto sichern',
  forgot: 'Sie kennen Ihr aktuelles Passwort nicht?',
  byLink: 'Link per E-Mail erhalten',
  keep: 'Das war doch ich',
  link: {
    title: 'Neues Passwort per E-Mail festlegen',
    lead: (email) =>
      `Wir melden sofort alle anderen Geräte und Apps ab und senden einen Link für ein neues Passwort an ${email}.`,
    submit: 'Überall sonst abmelden und Link senden',
    back: 'Ich kenne mein aktuelles Passwort',
  },
  next: {
    title: 'Ihr Konto ist gesichert',
    lead: 'Ihr Passwort ist geändert, und alle anderen Geräte und Apps sind abgemeldet.',
    linkTitle: 'Sehen Sie in Ihrem Postfach nach',
    linkLead:
      'Alle anderen Geräte und Apps sind abgemeldet. Wir haben Ihnen einen Link für ein neues Passwort geschickt. Verwenden Sie ihn gleich: Bis dahin gilt noch Ihr altes Passwort.',
    check: 'Was Sie als Nächstes prüfen sollten',
    twoFactor:
      'Zwei-Faktor-Authentifizierung: Schalten Sie sie ein, oder erstellen Sie neue Wiederherstellungscodes, falls jemand die bisherigen gesehen haben könnte.',
    profile: 'E-Mail-Adresse und Telefonnummer: Vergewissern Sie sich, dass es noch Ihre sind.',
    apps: 'Verbundene Apps: Entfernen Sie, was Sie nicht kennen.',
    devices: 'Geräte: Hier sollten nur Ihre eigenen stehen.',
    activity: 'Aktivität: Achten Sie auf Änderungen, die nicht von Ihnen stammen.',
    elsewhere: 'Falls Sie das alte Passwort auch anderswo verwenden, ändern Sie es dort ebenfalls.',
  },
};
