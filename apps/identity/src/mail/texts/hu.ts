import { duration, moment } from './format.ts';
import type { Texts } from './texts.ts';

const lasting = (seconds: number): string =>
  `A hivatkozás egyszer használható, érvényessége: ${duration('hu', seconds)}.`;

export const hu: Texts = {
  copyTheAddress: 'Ha a gomb nem működik, másolja ezt a címet a böngészőjébe:',
  whyThisMail: 'Ezt a levelet a rendszer küldte. A rá adott válaszokat senki sem olvassa.',
  mails: {
    email_verification: ({ lifetime }) => ({
      subject: 'Erősítse meg az e-mail-címét',
      greeting: 'Üdvözöljük!',
      paragraphs: ['Kérjük, erősítse meg, hogy ez az e-mail-cím az Öné.'],
      action: 'A cím megerősítése',
      notes: [
        `A hivatkozás érvényessége: ${duration('hu', lifetime)}.`,
        'Nem Ön regisztrált? Akkor nincs teendője: megerősítés nélkül a címet nem használjuk.',
      ],
    }),
    password_reset: ({ firstName, lifetime }) => ({
      subject: 'Új jelszó megadása',
      greeting: `Kedves ${firstName}!`,
      paragraphs: [
        'Valaki, feltehetően Ön, új jelszót kért a fiókjához.',
        'Itt adhatja meg. Ezután mindenhol kijelentkeztetjük.',
      ],
      action: 'Új jelszó megadása',
      notes: [
        lasting(lifetime),
        'Nem Ön kérte? Akkor nincs teendője: a jelszava változatlan marad.',
      ],
    }),
    password_changed: ({ firstName }) => ({
      subject: 'Megváltozott a jelszava',
      greeting: `Kedves ${firstName}!`,
      paragraphs: ['A fiókjának jelszavát az imént megváltoztatták.'],
      action: 'Nem én voltam',
      notes: [
        'Ha Ön volt, nincs teendője. Ha nem, azonnal adjon meg új jelszót, és szóljon a rendszergazdájának.',
      ],
    }),
    new_device: ({ firstName, device, ipAddress, at, timeZone }) => ({
      subject: 'Bejelentkezés új eszközről',
      greeting: `Kedves ${firstName}!`,
      paragraphs: [
        'A fiókjába olyan eszközről jelentkeztek be, amelyet eddig nem ismertünk:',
        `${device}${ipAddress ? `, cím: ${ipAddress}` : ''}, ${moment('hu', at, timeZone)}.`,
      ],
      action: 'Nem én voltam',
      notes: [
        'Ha Ön volt, nincs teendője. Ha nem, adjon meg új jelszót: ez minden bejelentkezést megszüntet.',
      ],
    }),
    address_taken: ({ firstName }) => ({
      subject: 'Már van fiókja',
      greeting: `Kedves ${firstName}!`,
      paragraphs: [
        'Valaki, feltehetően Ön, ezzel az e-mail-címmel szeretett volna regisztrálni. A címhez már tartozik fiók, ezért nem jött létre új.',
        'Jelentkezzen be a szokásos módon. Ha nem emlékszik a jelszavára, adjon meg újat.',
      ],
      action: 'Új jelszó megadása',
      notes: ['Nem Ön volt? Akkor nincs teendője: a fiókja változatlan.'],
    }),
    invitation: ({ tenant, inviter, lifetime }) => ({
      subject: `Meghívó: ${tenant}`,
      greeting: 'Üdvözöljük!',
      paragraphs: [
        inviter
          ? `${inviter} meghívja, hogy csatlakozzon ide: ${tenant}.`
          : `Meghívást kapott, hogy csatlakozzon ide: ${tenant}.`,
      ],
      action: 'A meghívó elfogadása',
      notes: [lasting(lifetime), 'Nem tudja, miről van szó? Akkor nincs teendője.'],
    }),
  },
};
