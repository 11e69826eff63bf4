import type { ProfileTexts } from '../en/profile.ts';

export const profile: ProfileTexts = {
  title: 'Profil',
  lead: 'Ihren Namen und Ihr Bild sehen die Personen, mit denen Sie zusammenarbeiten.',
  picture: 'Bild',
  pictureAlt: 'Ihr Bild',
  changePicture: 'Bild ändern',
  changeEmail: 'E-Mail-Adresse ändern',
  languageHint: 'Für diese Seiten und unsere E-Mails an Sie.',
  timeZoneHint: 'Datum und Uhrzeit zeigen wir in dieser Zeitzone an.',
  optional: 'Freiwillige Angabe',
  submit: 'Speichern',
  pictureLead: 'Wir schneiden Ihr Bild aus der Mitte quadratisch zu.',
  pictureHint:
    'JPEG, PNG, WebP oder GIF, höchstens 10 MB. Standort und andere verborgene Angaben werden entfernt.',
  upload: 'Bild speichern',
  removePicture: 'Bild entfernen',
  back: 'Zurück zum Profil',
  regions: {
    Africa: 'Afrika',
    America: 'Amerika',
    Antarctica: 'Antarktis',
    Arctic: 'Arktis',
    Asia: 'Asien',
    Atlantic: 'Atlantik',
    Australia: 'Australien',
    Europe: 'Europa',
    Indian: 'Indischer Ozean',
    Pacific: 'Pazifik',
  },
};
