import type { OverviewTexts } from '../en/overview.ts';

export const overview: OverviewTexts = {
  title: (name) => `Hallo, ${name}`,
  lead: 'Hier verwalten Sie Ihr Profil, Ihre Sicherheit und den Zugriff auf Ihr Konto.',
  signedInAs: 'Angemeldet als',
  tenant: 'Organisation',
  role: 'Rolle',
  noTenant: 'Sie sind kein Mitglied einer Organisation.',
  attention: 'Bitte beachten Sie',
  nothing: 'Es gibt nichts zu tun.',
  newDevice: (device, when) => `Neue Anmeldung mit ${device}, ${when}. Waren Sie das?`,
  fewCodes: (left) =>
    left === 0
      ? 'Sie haben keine Wiederherstellungscodes mehr. Erstellen Sie neue, damit Sie sich auch ohne Ihre Authenticator-App anmelden können.'
      : `Sie haben nur noch ${left} Wiederherstellungscode${left === 1 ? '' : 's'}. Erstellen Sie rechtzeitig neue.`,
  pendingEmail: (email) =>
    `Ihre neue E-Mail-Adresse ${email} ist noch nicht bestätigt. Folgen Sie dem Link in der E-Mail, die wir dorthin geschickt haben.`,
  suggestions: 'So wird Ihr Konto sicherer',
  pinOff: 'Legen Sie eine PIN fest, die nach jeder Anmeldung verlangt wird.',
  twoFactorOff:
    'Schalten Sie die Zwei-Faktor-Authentifizierung ein, damit Ihr Konto auch dann geschützt ist, wenn jemand Ihr Passwort erfährt.',
};
