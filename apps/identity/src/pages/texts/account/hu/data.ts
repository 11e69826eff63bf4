import type { DataTexts } from '../en/data.ts';

export const data: DataTexts = {
  title: 'Saját adatok',
  lead: 'Letöltheti az Önről tárolt adatokat, vagy törölheti a fiókját.',
  banner: (moment) => `A fiókját ekkor töröljük: ${moment}.`,
  keep: 'Megtartom a fiókomat',
  download: {
    title: 'Adatok letöltése',
    summary: 'Egyetlen fájlban megkapja minden Önről tárolt adat másolatát.',
    open: 'Adatok letöltése',
    lead: 'Egy JSON formátumú fájlt kap, amelyet más szolgáltatások és programok is be tudnak olvasni.',
    contents:
      'Tartalmazza a profilját, a szervezeteit és szerepköreit, az eszközeit, a munkameneteit, a csatlakoztatott alkalmazásokat, a biztonsági beállításait és a teljes tevékenységét.',
    without:
      'Nem tartalmaz jelszavakat vagy más titkos adatokat, sem mások személyes adatait. A szervezetei saját nyilvántartást vezetnek, ezt tőlük kérheti.',
    care: 'A fájl személyes adatokat tartalmaz. Olyan helyre mentse, ahol csak Ön férhet hozzá.',
    submit: 'Letöltés',
  },
  deletion: {
    title: 'Fiók törlése',
    summary: 'Véglegesen törli a fiókját és a hozzá tartozó személyes adatokat.',
    open: 'Fiók törlése',
    untilThen: 'Addig a megszokott módon használhatja, és bármikor meggondolhatja magát.',
    back: 'Vissza a saját adatokhoz',
    confirm: {
      title: 'Törli a fiókját?',
      lead: (moment) => `A fiókját ekkor töröljük: ${moment}. Elveszíti:`,
      losses: [
        'a profilját, a bejelentkezési lehetőségét és a biztonsági beállításait',
        'a tagságát minden szervezetben',
        'az eszközeit, a munkameneteit, a csatlakoztatott alkalmazásait és a tevékenységét',
      ],
      untilThen:
        'Addig a fiókja a megszokott módon működik, és bármikor megtarthatja. Utána nem állítható vissza. A szervezetek az Ön neve nélkül megőrzik, amit náluk létrehozott.',
      downloadFirst: 'Előbb letöltöm az adataimat',
      submit: 'Törlöm a fiókomat',
    },
    blocked: {
      title: 'A fiókja még nem törölhető',
      lead: 'A feladatait senki sem tudná átvenni:',
      lastOwner:
        'Ön a szervezet utolsó tulajdonosa. Tegyen tulajdonossá egy másik tagot, vagy kérje a szolgáltatás üzemeltetőjét, hogy törölje a szervezetet.',
      lastAdministrator:
        'Ön a szolgáltatás utolsó rendszergazdája. Nevezzen ki valaki mást rendszergazdának.',
      afterwards: 'Ezután térjen vissza erre az oldalra.',
    },
  },
};
