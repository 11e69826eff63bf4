import type { OverviewTexts } from '../en/overview.ts';

export const overview: OverviewTexts = {
  title: (name) => `Üdvözöljük, ${name}!`,
  lead: 'Itt kezelheti a profilját, a biztonsági beállításait és azt, hogy mi fér hozzá a fiókjához.',
  signedInAs: 'Bejelentkezve mint',
  tenant: 'Szervezet',
  role: 'Szerepkör',
  noTenant: 'Ön nem tagja egyetlen szervezetnek sem.',
  attention: 'Teendők',
  nothing: 'Minden rendben, nincs teendő.',
  twoFactorOff:
    'A kétlépcsős azonosítás ki van kapcsolva. Kapcsolja be, hogy fiókja akkor is védett legyen, ha valaki megtudja a jelszavát.',
};
