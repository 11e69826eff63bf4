import type { OverviewTexts } from '../en/overview.ts';

export const overview: OverviewTexts = {
  title: (name) => `Üdvözöljük, ${name}!`,
  lead: 'Itt kezelheti a profilját, a biztonsági beállításait és azt, hogy mi fér hozzá a fiókjához.',
  signedInAs: 'Bejelentkezve mint',
  tenant: 'Szervezet',
  role: 'Szerepkör',
  noTenant: 'Ön nem tagja egyetlen szervezetnek sem.',
  attention: 'Teendők',
  nothing: 'Nincs teendő.',
  newDevice: (device, when) => `Új bejelentkezés: ${device}, ${when}. Ön volt az?`,
  fewCodes: (left) =>
    left === 0
      ? 'Elfogytak a helyreállítási kódjai. Hozzon létre újakat, hogy a hitelesítő alkalmazása nélkül is be tudjon jelentkezni.'
      : `Már csak ${left} helyreállítási kódja maradt. Hozzon létre újakat, mielőtt elfogynak.`,
  pendingEmail: (email) =>
    `Az új e-mail-címe (${email}) még nincs megerősítve. Kövesse az oda küldött e-mailben található linket.`,
  suggestions: 'Így lesz biztonságosabb a fiókja',
  pinOff: 'Állítson be PIN-kódot, amelyet minden bejelentkezés után kérünk.',
  twoFactorOff:
    'Kapcsolja be a kétlépcsős azonosítást, hogy fiókja akkor is védett legyen, ha valaki megtudja a jelszavát.',
};
