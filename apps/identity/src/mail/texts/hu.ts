import { duration, hungarianSpan, moment } from './format.ts';
import type { Texts } from './texts.ts';

const until = (seconds: number): string => hungarianSpan(duration('hu', seconds));

const lasting = (seconds: number): string =>
  `A link ${until(seconds)} érvényes, és csak egyszer használható.`;

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
      greeting: `Kedves ${firstName}!`,
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
      greeting: `Kedves ${firstName}!`,
      paragraphs: [
        'Az imént megváltozott a fiókjához tartozó jelszó.',
        'Ha nem Ön módosította, azonnal állítson be új jelszót, és értesítse a rendszergazdáját.',
      ],
      action: 'Új jelszó beállítása',
      notes: ['Ha Ön módosította, nincs további teendője.'],
    }),
    new_device: ({ firstName, device, ipAddress, at, timeZone }) => ({
      subject: 'Új bejelentkezés a fiókjába',
      greeting: `Kedves ${firstName}!`,
      paragraphs: [
        'Valaki eddig ismeretlen eszközről jelentkezett be a fiókjába:',
        `${device}${ipAddress ? `, IP-cím: ${ipAddress}` : ''}, ${moment('hu', at, timeZone)}.`,
        'Ha nem Ön volt, azonnal állítson be új jelszót. Ezzel minden eszközön kijelentkeztetjük.',
      ],
      action: 'Új jelszó beállítása',
      notes: ['Ha Ön volt, nincs további teendője.'],
    }),
    new_network: ({ firstName, device, ipAddress, at, timeZone }) => ({
      subject: 'Bejelentkezés új hálózatról',
      greeting: `Kedves ${firstName}!`,
      paragraphs: [
        'Valaki az egyik eszközéről bejelentkezett a fiókjába, de olyan hálózatról, amelyet ez az eszköz eddig nem használt:',
        `${device}${ipAddress ? `, IP-cím: ${ipAddress}` : ''}, ${moment('hu', at, timeZone)}.`,
        'Ha nem Ön volt, azonnal állítson be új jelszót. Ezzel minden eszközön kijelentkeztetjük.',
      ],
      action: 'Új jelszó beállítása',
      notes: ['Ha Ön volt, nincs további teendője.'],
    }),
    address_taken: ({ firstName }) => ({
      subject: 'Már van fiókja',
      greeting: `Kedves ${firstName}!`,
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
