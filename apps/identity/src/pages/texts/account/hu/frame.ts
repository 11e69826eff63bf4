import type { FrameTexts } from '../en/frame.ts';

export const frame: FrameTexts = {
  menu: 'Fiók',
  back: 'Vissza a fiókhoz',
  signedInAs: (who) => `Bejelentkezve mint ${who}`,
  sections: {
    overview: 'Áttekintés',
    profile: 'Profil',
    password: 'Jelszó',
    twoFactor: 'Kétlépcsős azonosítás',
    pin: 'PIN-kód',
    devices: 'Eszközök és munkamenetek',
    apps: 'Csatlakoztatott alkalmazások',
    activity: 'Tevékenység',
    tenants: 'Szervezetek',
    data: 'Saját adatok',
  },
};
