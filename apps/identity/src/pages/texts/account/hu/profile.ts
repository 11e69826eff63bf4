import type { ProfileTexts } from '../en/profile.ts';

export const profile: ProfileTexts = {
  title: 'Profil',
  lead: 'A nevét és a képét azok látják, akikkel együtt dolgozik.',
  picture: 'Kép',
  pictureAlt: 'Az Ön képe',
  changePicture: 'Kép módosítása',
  changeEmail: 'E-mail-cím módosítása',
  languageHint: 'Ezekhez az oldalakhoz és a leveleinkhez.',
  timeZoneHint: 'A dátumokat és időpontokat ebben az időzónában jelenítjük meg.',
  optional: 'Nem kötelező',
  submit: 'Mentés',
  pictureLead: 'A képet a közepéből négyzet alakúra vágjuk.',
  pictureHint:
    'JPEG, PNG, WebP vagy GIF, legfeljebb 10 MB. A helyadatokat és más rejtett részleteket eltávolítjuk.',
  upload: 'Kép mentése',
  removePicture: 'Kép eltávolítása',
  back: 'Vissza a profilhoz',
  regions: {
    Africa: 'Afrika',
    America: 'Amerika',
    Antarctica: 'Antarktisz',
    Arctic: 'Északi-sarkvidék',
    Asia: 'Ázsia',
    Atlantic: 'Atlanti-óceán',
    Australia: 'Ausztrália',
    Europe: 'Európa',
    Indian: 'Indiai-óceán',
    Pacific: 'Csendes-óceán',
  },
};
