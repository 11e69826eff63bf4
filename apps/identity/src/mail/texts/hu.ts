import type { Seen } from '../mails.ts';
import { deviceName, duration, hungarianSpan, moment } from './format.ts';
import type { Texts } from './texts.ts';

const until = (seconds: number): string => hungarianSpan(duration('hu', seconds));

const lasting = (seconds: number): string =>
  `A link ${until(seconds)} érvényes, és csak egyszer használható.`;

const hello = (name: string | null): string => (name ? `Kedves ${name}!` : 'Üdvözöljük!');

/** Where and when something was done. */
const seenBy = ({ device, ipAddress, at, timeZone }: Seen): string => {
  const name = deviceName(device, (browser, os) => `${browser} (${os})`, 'Ismeretlen eszköz');
  return `${name}${ipAddress ? `, IP-cím: ${ipAddress}` : ''}, ${moment('hu', at, timeZone)}.`;
};

const codesLeft = (left: number): string =>
  left === 0
    ? 'Nem maradt helyreállítási kódja. Hozzon létre újakat a fiókjában, a „Kétlépcsős azonosítás” oldalon.'
    : `Még ${left} helyreállítási kódja maradt.`;

export const hu: Texts = {
  copyTheAddress: 'Ha a gomb nem működik, másolja ezt a linket a böngészőjébe:',
  whyThisMail:
    'Ez egy automatikus üzenet. Kérjük, ne válaszoljon rá, mert a válaszokat nem olvassuk.',
  mails: {
    email_verification: ({ lifetime }) => ({
      subject: 'Erősítse meg az e-mail-címét',
      greeting: 'Üdvözöljük!',
      paragraphs: ['Kérjük, erősítse meg, hogy ez az e-mail-cím az Öné.'],
      action: 'E-mail-cím megerősítése',
      notes: [
        `A link ${until(lifetime)} érvényes.`,
        'Ha nem Ön regisztrált, hagyja figyelmen kívül ezt az e-mailt. Megerősítés nélkül nem használjuk a címét.',
      ],
    }),
    password_reset: ({ firstName, lifetime }) => ({
      subject: 'Új jelszó beállítása',
      greeting: hello(firstName),
      paragraphs: [
        'Kérést kaptunk a fiókjához tartozó jelszó visszaállítására.',
        'Az alábbi gombbal állíthat be új jelszót. Ezután minden eszközén kijelentkeztetjük.',
      ],
      action: 'Új jelszó beállítása',
      notes: [
        lasting(lifetime),
        'Ha nem Ön kérte, hagyja figyelmen kívül ezt az e-mailt. A jelszava változatlan marad.',
      ],
    }),
    password_changed: ({ firstName }) => ({
      subject: 'Megváltozott a jelszava',
      greeting: hello(firstName),
      paragraphs: [
        'Az imént megváltozott a fiókjához tartozó jelszó.',
        'Ha nem Ön módosította, azonnal állítson be új jelszót, és értesítse a rendszergazdáját.',
      ],
      action: 'Új jelszó beállítása',
      notes: ['Ha Ön módosította, nincs további teendője.'],
    }),
    new_device: ({ firstName, ...seen }) => ({
      subject: 'Új bejelentkezés a fiókjába',
      greeting: hello(firstName),
      paragraphs: [
        'Valaki eddig ismeretlen eszközről jelentkezett be a fiókjába:',
        seenBy(seen),
        'Ha nem Ön volt, nyissa meg a legutóbbi tevékenységeket, és válassza a „Nem én voltam” lehetőséget. Ezután új jelszót állíthat be, és minden eszközön kijelentkezhet.',
      ],
      action: 'Legutóbbi tevékenységek',
      notes: ['Ha Ön volt, nincs további teendője.'],
    }),
    new_network: ({ firstName, ...seen }) => ({
      subject: 'Bejelentkezés új hálózatról',
      greeting: hello(firstName),
      paragraphs: [
        'Valaki az egyik eszközéről bejelentkezett a fiókjába, de olyan hálózatról, amelyet ez az eszköz eddig nem használt:',
        seenBy(seen),
        'Ha nem Ön volt, nyissa meg a legutóbbi tevékenységeket, és válassza a „Nem én voltam” lehetőséget. Ezután új jelszót állíthat be, és minden eszközön kijelentkezhet.',
      ],
      action: 'Legutóbbi tevékenységek',
      notes: ['Ha Ön volt, nincs további teendője.'],
    }),
    factor_added: ({ firstName, factor, ...seen }) => ({
      subject: {
        two_factor: 'Bekapcsolták a kétlépcsős azonosítást',
        pin: 'PIN-kódot állítottak be',
      }[factor],
      greeting: hello(firstName),
      paragraphs: [
        {
          two_factor: 'A fiókjához bekapcsolták a kétlépcsős azonosítást:',
          pin: 'A fiókjához PIN-kódot állítottak be:',
        }[factor],
        seenBy(seen),
        'Ha nem Ön volt, nyissa meg a legutóbbi tevékenységeket, és válassza a „Nem én voltam” lehetőséget. Ha már nem tud bejelentkezni, értesítse a rendszergazdáját.',
      ],
      action: 'Legutóbbi tevékenységek',
      notes: ['Ha Ön volt, nincs további teendője.'],
    }),
    factor_removed: ({ firstName, factor, seen }) => ({
      subject: {
        two_factor: 'Kikapcsolták a kétlépcsős azonosítást',
        pin: 'Eltávolították a PIN-kódját',
      }[factor],
      greeting: hello(firstName),
      paragraphs: seen
        ? [
            {
              two_factor: 'A fiókjához tartozó kétlépcsős azonosítást kikapcsolták:',
              pin: 'A fiókjához tartozó PIN-kódot eltávolították:',
            }[factor],
            seenBy(seen),
            'Ha nem Ön volt, nyissa meg a legutóbbi tevékenységeket, és válassza a „Nem én voltam” lehetőséget. Ha már nem tud bejelentkezni, értesítse a rendszergazdáját.',
          ]
        : [
            {
              two_factor:
                'Egy rendszergazda kikapcsolta a fiókjához tartozó kétlépcsős azonosítást, és minden eszközén kijelentkeztettük.',
              pin: 'Egy rendszergazda eltávolította a fiókjához tartozó PIN-kódot, és minden eszközén kijelentkeztettük.',
            }[factor],
            'Ha nem Ön kérte, értesítse a rendszergazdáját.',
          ],
      action: seen ? 'Legutóbbi tevékenységek' : 'Újbóli beállítás',
      notes: [
        seen
          ? 'Ha Ön volt, nincs további teendője.'
          : 'Ha Ön kérte, nincs további teendője. Javasoljuk, hogy állítsa be újra.',
      ],
    }),
    recovery_code_used: ({ firstName, left, ...seen }) => ({
      subject: 'Felhasználtak egy helyreállítási kódot',
      greeting: hello(firstName),
      paragraphs: [
        'Valaki az egyik helyreállítási kódjával jelentkezett be a fiókjába:',
        seenBy(seen),
        codesLeft(left),
        'Ha nem Ön volt, nyissa meg a legutóbbi tevékenységeket, és válassza a „Nem én voltam” lehetőséget. Ha már nem tud bejelentkezni, értesítse a rendszergazdáját.',
      ],
      action: 'Legutóbbi tevékenységek',
      notes: ['Ha Ön volt, nincs további teendője.'],
    }),
    recovery_codes_replaced: ({ firstName, ...seen }) => ({
      subject: 'Lecserélték a helyreállítási kódjait',
      greeting: hello(firstName),
      paragraphs: [
        'A fiókjához új helyreállítási kódok készültek, a régiek már nem használhatók:',
        seenBy(seen),
        'Ha nem Ön volt, nyissa meg a legutóbbi tevékenységeket, és válassza a „Nem én voltam” lehetőséget. Ha már nem tud bejelentkezni, értesítse a rendszergazdáját.',
      ],
      action: 'Legutóbbi tevékenységek',
      notes: ['Ha Ön volt, nincs további teendője.'],
    }),
    pin_changed: ({ firstName, ...seen }) => ({
      subject: 'Megváltozott a PIN-kódja',
      greeting: hello(firstName),
      paragraphs: [
        'A fiókjához tartozó PIN-kód megváltozott:',
        seenBy(seen),
        'Ha nem Ön volt, nyissa meg a legutóbbi tevékenységeket, és válassza a „Nem én voltam” lehetőséget. Ha már nem tud bejelentkezni, értesítse a rendszergazdáját.',
      ],
      action: 'Legutóbbi tevékenységek',
      notes: ['Ha Ön volt, nincs további teendője.'],
    }),
    account_secured: ({ firstName, by, ...seen }) => ({
      subject: 'Biztonságba helyeztük a fiókját',
      greeting: hello(firstName),
      paragraphs: [
        'Ön olyan tevékenységet jelentett a fiókjában, amely nem Öntől származott:',
        seenBy(seen),
        {
          password:
            'A jelszava megváltozott, és minden más eszközt és alkalmazást kijelentkeztettünk. A kétlépcsős azonosítást már egyik eszközön sem lehet kihagyni.',
          link: 'Minden más eszközt és alkalmazást kijelentkeztettünk, és a kétlépcsős azonosítást már egyik eszközön sem lehet kihagyni. Az új jelszó beállításához külön e-mailben küldtünk linket.',
        }[by],
      ],
      action: 'Tevékenység megtekintése',
      notes: [
        'Ha nem Ön jelentette, azonnal állítson be új jelszót, és értesítse a rendszergazdáját.',
      ],
    }),
    tenant_left: ({ firstName, tenant, ...seen }) => ({
      subject: `Kilépett a következő szervezetből: ${tenant}`,
      greeting: hello(firstName),
      paragraphs: [
        `Ön már nem tagja ennek a szervezetnek: ${tenant}.`,
        seenBy(seen),
        'A visszatéréshez kérjen meghívót a szervezet egyik tagjától. Ha nem Ön volt, azonnal helyezze biztonságba a fiókját.',
      ],
      action: 'Nem én voltam',
      notes: ['Ha Ön volt, nincs további teendője.'],
    }),
    email_changed: ({ firstName, newEmail }) => ({
      subject: 'Megváltozott az e-mail-címe',
      greeting: hello(firstName),
      paragraphs: [
        `A fiókjához tartozó e-mail-cím mostantól: ${newEmail}.`,
        'Ha nem Ön volt, azonnal állítson be új jelszót, és értesítse a rendszergazdáját.',
      ],
      action: 'Új jelszó beállítása',
      notes: ['Ha Ön volt, nincs további teendője.'],
    }),
    email_change: ({ lifetime }) => ({
      subject: 'Erősítse meg az új e-mail-címét',
      greeting: 'Üdvözöljük!',
      paragraphs: [
        'Azt kérte, hogy a fiókjához ezt az e-mail-címet használjuk. Kérjük, erősítse meg, hogy a cím az Öné.',
        'Addig a fiókja a jelenlegi címét tartja meg.',
      ],
      action: 'Új cím megerősítése',
      notes: [
        lasting(lifetime),
        'Ha nem Ön kérte, hagyja figyelmen kívül ezt az e-mailt. Megerősítés nélkül nem használjuk a címét.',
      ],
    }),
    email_change_requested: ({ firstName, newEmail, ...seen }) => ({
      subject: 'Kérték az e-mail-címe módosítását',
      greeting: hello(firstName),
      paragraphs: [
        `Valaki bejelentkezett a fiókjába, és azt kérte, hogy az e-mail-cím ez legyen: ${newEmail}.`,
        seenBy(seen),
        'Egyelőre semmi sem változott. Ha nem Ön volt, vonja vissza a kérést a profiljában, és azonnal állítson be új jelszót.',
      ],
      action: 'Profil megnyitása',
      notes: ['Ha Ön volt, nyissa meg az új címre küldött linket.'],
    }),
    email_change_taken: ({ firstName }) => ({
      subject: 'Ehhez az e-mail-címhez már tartozik fiók',
      greeting: hello(firstName),
      paragraphs: [
        'Valaki, feltehetően Ön, egy másik fiókhoz szerette volna használni ezt az e-mail-címet. A cím már az Ön fiókjához tartozik, ezért semmi sem változott.',
        'Ha a másik fiókhoz szeretné használni, előbb módosítsa ennek a fióknak a címét.',
      ],
      action: 'Fiók megnyitása',
      notes: ['Ha nem Ön volt, hagyja figyelmen kívül ezt az e-mailt. A fiókja nem változott.'],
    }),
    email_replaced: ({ firstName, newEmail, lifetime }) => ({
      subject: 'Módosították az e-mail-címét',
      greeting: hello(firstName),
      paragraphs: [
        `A fiókjához tartozó e-mail-cím mostantól: ${newEmail}. Ezzel a címmel már nem tud bejelentkezni.`,
        'Ha nem Ön volt, vonja vissza a módosítást. Visszaállítjuk ezt a címet, minden eszközt kijelentkeztetünk, és új jelszót állíthat be.',
      ],
      action: 'Módosítás visszavonása',
      notes: [lasting(lifetime), 'Ha Ön volt, nincs további teendője.'],
    }),
    email_restored: ({ firstName, email }) => ({
      subject: 'Visszavonták az e-mail-címe módosítását',
      greeting: hello(firstName),
      paragraphs: [
        `A fiókjához tartozó e-mail-cím ismét: ${email}. A módosítást az erre a címre küldött linkkel vonták vissza.`,
        'Minden eszközt kijelentkeztettünk, a régi jelszó már nem érvényes, és eltávolítottuk az azóta beállított kétlépcsős azonosítást és PIN-kódot.',
      ],
      action: 'Új jelszó beállítása',
      notes: ['Ha nem Ön volt, értesítse a rendszergazdáját.'],
    }),
    data_exported: ({ firstName, ...seen }) => ({
      subject: 'Letöltötték az adatait',
      greeting: hello(firstName),
      paragraphs: [
        'Valaki letöltötte a fiókjában tárolt személyes adatok másolatát:',
        seenBy(seen),
        'Ha nem Ön volt, azonnal állítson be új jelszót, és értesítse a rendszergazdáját.',
      ],
      action: 'Új jelszó beállítása',
      notes: ['Ha Ön volt, nincs további teendője.'],
    }),
    account_deletion_requested: ({ firstName, dueAt, ...seen }) => ({
      subject: 'Törölni fogjuk a fiókját',
      greeting: hello(firstName),
      paragraphs: [
        `A fiókját és a hozzá tartozó adatokat ekkor töröljük: ${moment('hu', dueAt, seen.timeZone)}. A kérés innen érkezett:`,
        seenBy(seen),
        'Addig a megszokott módon használhatja a fiókját, és bármikor meggondolhatja magát. Ehhez jelentkezzen be, és válassza a „Megtartom a fiókomat” lehetőséget.',
      ],
      action: 'Megtartom a fiókomat',
      notes: [
        'Ha törölni szeretné a fiókját, nincs további teendője.',
        'Ha nem Ön kérte, tartsa meg a fiókját, és azonnal állítson be új jelszót.',
      ],
    }),
    account_deletion_reminder: ({ firstName, dueAt, timeZone }) => ({
      subject: 'Hamarosan töröljük a fiókját',
      greeting: hello(firstName),
      paragraphs: [
        `Kérésére a fiókját és a hozzá tartozó adatokat ekkor töröljük: ${moment('hu', dueAt, timeZone)}. Ez nem vonható vissza.`,
        'Ha meggondolta magát, addig jelentkezzen be, és válassza a „Megtartom a fiókomat” lehetőséget.',
      ],
      action: 'Megtartom a fiókomat',
      notes: ['Ha továbbra is törölni szeretné a fiókját, nincs további teendője.'],
    }),
    account_deletion_refused: ({ firstName, tenants, isLastAdministrator }) => ({
      subject: 'Nem tudtuk törölni a fiókját',
      greeting: hello(firstName),
      paragraphs: [
        'A fiókja törlését kérte. Megtartottuk, mert a feladatait senki sem tudná átvenni:',
        [
          ...tenants.map((name) => `Ön az utolsó tulajdonos itt: ${name}.`),
          ...(isLastAdministrator ? ['Ön a szolgáltatás utolsó rendszergazdája.'] : []),
        ].join(' '),
      ],
      action: 'Ugrás a fiókhoz',
      notes: ['Adja át ezt a szerepkört valaki másnak, majd kérje újra a törlést.'],
    }),
    account_deleted: ({ firstName }) => ({
      subject: 'Töröltük a fiókját',
      greeting: hello(firstName),
      paragraphs: ['Kérésére töröltük a fiókját és a hozzá tartozó személyes adatokat.'],
      notes: ['Erre a címre ez volt az utolsó üzenetünk.'],
    }),
    address_taken: ({ firstName }) => ({
      subject: 'Már van fiókja',
      greeting: hello(firstName),
      paragraphs: [
        'Valaki, feltehetően Ön, ezzel az e-mail-címmel próbált regisztrálni. A címhez már tartozik fiók, ezért nem hoztunk létre újat.',
        'Jelentkezzen be a szokásos módon. Ha elfelejtette a jelszavát, állítson be újat.',
      ],
      action: 'Új jelszó beállítása',
      notes: ['Ha nem Ön volt, hagyja figyelmen kívül ezt az e-mailt. A fiókja nem változott.'],
    }),
    invitation: ({ tenant, inviter, lifetime }) => ({
      subject: `Meghívó: ${tenant}`,
      greeting: 'Üdvözöljük!',
      paragraphs: [
        inviter
          ? `${inviter} meghívta Önt, hogy csatlakozzon ide: ${tenant}.`
          : `Meghívást kapott, hogy csatlakozzon ide: ${tenant}.`,
      ],
      action: 'Meghívó elfogadása',
      notes: [
        lasting(lifetime),
        'Ha nem számított erre a meghívóra, hagyja figyelmen kívül ezt az e-mailt.',
      ],
    }),
  },
};
