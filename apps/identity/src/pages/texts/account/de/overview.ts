import type { OverviewTexts } from '../en/overview.ts';

export const overview: OverviewTexts = {
  title: (name) => `Hallo, ${name}`,
  lead: 'Hier verwalten Sie Ihr Profil, Ihre Sicherheit und den Zugriff auf Ihr Konto.',
  signedInAs: 'Angemeldet als',
  tenant: 'Organisation',
  role: 'Rolle',
  noTenant: 'Sie sind kein Mitglied einer Organisation.',
  attention: 'Bitte beachten Sie',
  nothing: 'Alles in Ordnung: Es gibt nichts zu tun.',
  twoFactorOff:
    'Die Zwei-Faktor-Authentifizierung ist ausgeschaltet. Schalten Sie sie ein, damit Ihr Konto auch dann geschützt ist, wenn jemand Ihr Passwort erfährt.',
};
