import type { AppsTexts } from '../en/apps.ts';

export const apps: AppsTexts = {
  title: 'Csatlakoztatott alkalmazások',
  lead: 'Alkalmazások, amelyek hozzáférnek a fiókjához, és amit megtehetnek.',
  emptyTitle: 'Még nincs alkalmazás',
  empty:
    'Egyetlen alkalmazás sem fér hozzá a fiókjához. Itt jelennek meg azok, amelyekbe bejelentkezik, vagy amelyeknek hozzáférést ad.',
  allowed: 'Alkalmazások, amelyeknek hozzáférést adott',
  allowedLead: 'A hozzáférést bármikor visszavonhatja.',
  signedIn: 'Alkalmazások, amelyekbe bejelentkezett',
  signedInLead:
    'Ezekben az alkalmazásokban az Ön szervezete vagy ez a szolgáltatás megbízik, ezért nem kértek Öntől engedélyt.',
  kinds: {
    first_party: (brand) => `Üzemelteti: ${brand}`,
    tenant: (owner) => `Üzemelteti: ${owner}`,
    third_party: 'Külső alkalmazás',
  },
  tenant: (name) => `Szervezet: ${name}`,
  since: 'Mióta:',
  lastUsed: 'Utoljára használva:',
  notUsed: 'Jelenleg nincs bejelentkezve',
  can: 'Megteheti:',
  withdraw: 'Hozzáférés visszavonása',
  signOut: 'Kijelentkezés',
  withdrawPage: {
    title: (app) => `Visszavonja a hozzáférést ettől: ${app}?`,
    lead: (app) =>
      `${app} azonnal, minden eszközön elveszíti a hozzáférést a fiókjához. A továbbiakban nem teheti meg a következőket:`,
    hint: (app) =>
      `Amit ${app} már megkapott, az a szolgáltatójánál marad. Ha újra használni szeretné az alkalmazást, ismét engedélyeznie kell a hozzáférést.`,
  },
  signOutPage: {
    title: (app) => `Kijelentkezik innen: ${app}?`,
    lead: (app) => `Minden eszközön azonnal kijelentkeztetjük innen: ${app}.`,
    hint: (app) =>
      `Amíg itt be van jelentkezve, ${app} a megnyitásakor jelszó nélkül újra bejelentkeztetheti.`,
  },
  cancel: 'Mégse',
};
