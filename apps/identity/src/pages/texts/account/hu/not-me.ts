import type { NotMeTexts } from '../en/not-me.ts';

export const notMe: NotMeTexts = {
  title: 'A fiók biztonságba helyezése',
  lead: 'Ha nem Ön volt, valaki más is hozzáférhet a fiókjához. Állítson be most új jelszót.',
  question: 'Amit nem ismer fel',
  effects: 'Amikor menti az új jelszót:',
  effectList: [
    'Minden más eszközt és alkalmazást kijelentkeztetünk. Itt bejelentkezve marad.',
    'Ha be van kapcsolva a kétlépcsős azonosítás, minden eszközön újra kérjük.',
    'Az e-mail-címe még meg nem erősített módosítását visszavonjuk.',
    'E-mailt küldünk Önnek, és a tevékenységei között is feltüntetjük.',
  ],
  submit: 'Fiók biztonságba helyezése',
  forgot: 'Nem tudja a jelenlegi jelszavát?',
  byLink: 'Link kérése e-mailben',
  keep: 'Mégis én voltam',
  link: {
    title: 'Új jelszó beállítása e-mailben',
    lead: (email) =>
      `Azonnal kijelentkeztetünk minden más eszközt és alkalmazást, és az új jelszó beállításához linket küldünk erre a címre: ${email}.`,
    submit: 'Kijelentkezés máshol és link küldése',
    back: 'Tudom a jelenlegi jelszavamat',
  },
  next: {
    title: 'A fiókja biztonságban van',
    lead: 'A jelszava megváltozott, és minden más eszközt és alkalmazást kijelentkeztettünk.',
    linkTitle: 'Nézze meg a postafiókját',
    linkLead:
      'Minden más eszközt és alkalmazást kijelentkeztettünk. Az új jelszó beállításához linket küldtünk Önnek. Használja most: addig a régi jelszava is érvényes.',
    check: 'Mit ellenőrizzen most',
    twoFactor:
      'Kétlépcsős azonosítás: kapcsolja be, vagy hozzon létre új helyreállítási kódokat, ha valaki láthatta őket.',
    profile: 'E-mail-cím és telefonszám: győződjön meg róla, hogy még az Önéi.',
    apps: 'Csatlakoztatott alkalmazások: távolítsa el, amit nem ismer fel.',
    devices: 'Eszközök: csak a sajátjai szerepeljenek itt.',
    activity: 'Tevékenység: keressen olyan módosításokat, amelyeket nem Ön végzett.',
    elsewhere: 'Ha a régi jelszót máshol is használja, ott is változtassa meg.',
  },
};
