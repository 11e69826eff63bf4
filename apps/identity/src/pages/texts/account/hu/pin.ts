import type { PinTexts } from '../en/pin.ts';

export const pin: PinTexts = {
  title: 'PIN-kód',
  lead: 'A PIN-kód bejelentkezés után zárolja a munkamenetet: amíg meg nem adja, semmi sem érhető el a fiókjában. Akkor is védelmet nyújt, ha valaki megtudja a jelszavát.',
  rules: 'Adjon meg 6 számjegyet. Ne legyen mind azonos, és ne legyen sorozat, például 123456.',
  newPin: 'Új PIN-kód',
  set: 'PIN-kód beállítása',
  isOn: 'A PIN-kódja be van állítva. Minden bejelentkezéskor kérni fogjuk.',
  since: 'Beállítva',
  locked: (when) => `Túl sokszor adtak meg hibás PIN-kódot. Újra használhatja ${when}.`,
  goToChange: 'PIN-kód módosítása',
  goToRemove: 'PIN-kód eltávolítása',
  change: {
    title: 'PIN-kód módosítása',
    lead: 'A következő bejelentkezéskor már az új PIN-kódot kérjük.',
    submit: 'PIN-kód módosítása',
    forgotten: 'Elfelejtette a PIN-kódját? Távolítsa el a jelszavával, majd állítson be újat.',
  },
  remove: {
    title: 'Eltávolítja a PIN-kódját?',
    lead: 'Bejelentkezés után többé nem kérünk PIN-kódot. A PIN-kódra váró munkameneteket kijelentkeztetjük.',
    submit: 'PIN-kód eltávolítása',
    keep: 'PIN-kód megtartása',
  },
};
