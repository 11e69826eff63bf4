import type { FrameTexts } from '../en/frame.ts';

export const frame: FrameTexts = {
  menu: 'Konto',
  back: 'Zurück zum Konto',
  signedInAs: (who) => `Angemeldet als ${who}`,
  sections: {
    overview: 'Übersicht',
    profile: 'Profil',
    password: 'Passwort',
    twoFactor: 'Zwei-Faktor-Authentifizierung',
    pin: 'PIN',
    devices: 'Geräte und Sitzungen',
    apps: 'Verbundene Apps',
    activity: 'Aktivität',
    tenants: 'Organisationen',
    data: 'Ihre Daten',
  },
};
