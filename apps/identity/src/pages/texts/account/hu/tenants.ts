import type { TenantsTexts } from '../en/tenants.ts';

export const tenants: TenantsTexts = {
  lead: 'A szervezetek, amelyeknek tagja, és az Ön szerepköre bennük.',
  none: 'Ön nem tagja egyetlen szervezetnek sem. Ha valaki meghívja, e-mailben kap egy linket.',
  roles: { owner: 'Tulajdonos', admin: 'Adminisztrátor', member: 'Tag', viewer: 'Megtekintő' },
  role: (role) => `Szerepkör: ${role}`,
  since: (date) => `A tagság kezdete: ${date}`,
  current: 'Jelenlegi',
  states: {
    provisioning: {
      badge: 'Előkészítés alatt',
      hint: 'A szervezet előkészítése még folyamatban van. Hamarosan használhatja.',
    },
    failed: {
      badge: 'Nem használható',
      hint: 'A szervezetet még nem sikerült előkészíteni. Forduljon a szolgáltatás üzemeltetőjéhez.',
    },
    suspended: {
      badge: 'Felfüggesztve',
      hint: 'Ezt a szervezetet felfüggesztették. Senki sem használhatja, amíg újra nem aktiválják.',
    },
    deleting: {
      badge: 'Törlés alatt',
      hint: 'A szervezet törlése folyamatban van. Már senki sem használhatja.',
    },
  },
  switch: 'Váltás',
  switchTo: (tenant) => `Váltás erre: ${tenant}`,
  switchHint:
    'A következő bejelentkezése a jelenlegi szervezetben kezdődik. A már megnyitott alkalmazások ott maradnak, ahol vannak.',
  leave: 'Kilépés',
  leaveNamed: (tenant) => `Kilépés innen: ${tenant}`,
  leaving: {
    title: (tenant) => `Kilép innen: ${tenant}?`,
    lead: 'Csak akkor térhet vissza, ha valaki ismét meghívja.',
    effects: 'Ha kilép:',
    effectList: [
      'Elveszíti a szerepkörét, és a szervezetben semmihez sem fér hozzá.',
      'Az ebben a szervezetben használt alkalmazásokat és eszközöket kijelentkeztetjük belőle.',
      'Amit ott létrehozott, a szervezeté marad.',
    ],
    submit: 'Kilépés a szervezetből',
    keep: 'Maradok',
    lastOwner: 'Ön a szervezet egyetlen tulajdonosa, ezért még nem léphet ki.',
    lastOwnerHelp:
      'Előbb tegyen egy másik tagot tulajdonossá. Ha a szervezetre már nincs szükség, kérje a szolgáltatójától a törlését.',
  },
};
