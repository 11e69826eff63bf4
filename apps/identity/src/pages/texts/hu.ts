import { hungarianSpan } from '../../mail/texts/format.ts';
import { account } from './account/hu/account.ts';
import type { Texts } from './texts.ts';
import { waiting } from './waiting.ts';

export const hu: Texts = {
  name: 'Magyar',
  isFamilyNameFirst: true,
  error: 'Hiba',
  language: 'Nyelv',
  show: 'Megjelenítés',
  hide: 'Elrejtés',
  labels: {
    email: 'E-mail-cím',
    password: 'Jelszó',
    password_confirmation: 'Jelszó megerősítése',
    current_password: 'Jelenlegi jelszó',
    new_password: 'Új jelszó',
    new_password_confirmation: 'Új jelszó megerősítése',
    code: 'Kód',
    pin: 'PIN-kód',
    first_name: 'Utónév',
    last_name: 'Vezetéknév',
    tenant_name: 'A cég vagy csapat neve',
    device_name: 'Az eszköz neve',
  },
  problems: {
    email: 'Adjon meg egy érvényes e-mail-címet, például: ada@example.com.',
    password: 'Adja meg a jelszót.',
    password_confirmation: 'A két jelszó nem egyezik.',
    current_password: 'A jelenlegi jelszó nem megfelelő.',
    new_password: 'Adja meg az új jelszót.',
    new_password_confirmation: 'A két jelszó nem egyezik.',
    code: 'A kód hibás, lejárt, vagy már felhasználták.',
    pin: 'A PIN-kód hibás. 6 számjegyből áll.',
    first_name: 'Adja meg az utónevét.',
    last_name: 'Adja meg a vezetéknevét.',
    tenant_name: 'Adjon meg egy nevet.',
    device_name: 'Legfeljebb 100 karakteres nevet adjon meg.',
    token: 'Ez a link érvénytelen vagy lejárt. Kérjen újat.',
    other: 'Ez az érték nem megfelelő.',
  },
  rules: {
    too_long:
      'Legfeljebb 72 karakter lehet. Az ékezetes betűk és az emojik több karakternek számítanak.',
    too_short: (least) => `Legyen legalább ${least} karakter hosszú.`,
    uppercase: 'Legyen benne nagybetű.',
    lowercase: 'Legyen benne kisbetű.',
    digit: 'Legyen benne számjegy.',
    special: 'Legyen benne különleges karakter, például ! vagy -.',
    common: 'Válasszon kevésbé gyakori jelszót. Nem elég számokat vagy jeleket írni a végére.',
    has_address: 'Ne használja az e-mail-címét a jelszavában.',
    has_name: 'Ne használja a nevét a jelszavában.',
    has_brand: 'Ne használja a szolgáltatás nevét a jelszavában.',
    reused: 'Ezt a jelszót korábban már használta. Válasszon másikat.',
  },
  ruleHint: (least) =>
    `Legalább ${least} karakter, köztük kis- és nagybetű, számjegy és különleges karakter.`,
  alerts: {
    credentials: 'Hibás e-mail-cím vagy jelszó.',
    tooMany: (seconds) => `Túl sok próbálkozás. Próbálja újra ${waiting('hu', seconds)}.`,
    forged:
      'Nem tudtuk ellenőrizni, hogy a kérés a mi oldalunkról érkezett. Kérjük, próbálja újra.',
    conflict: 'Időközben megváltozott valami. Kérjük, próbálja újra.',
    suspended: 'Ez a szervezet jelenleg fel van függesztve.',
    fields: 'Kérjük, ellenőrizze a megjelölt mezőket.',
  },
  notices: {
    password_reset: 'A jelszava megváltozott. Jelentkezzen be az új jelszavával.',
    password_changed: 'A jelszava megváltozott.',
    email_verified: 'Az e-mail-címét megerősítettük.',
    invitation_accepted: 'Csatlakozott a szervezethez. A kezdéshez jelentkezzen be.',
    account_disowned: 'A fiókot töröltük. Az e-mail-címét már nem használjuk.',
    account_signed_out:
      'A fiók egy szervezet tagjáé, ezért nem töröltük. Minden eszközön kijelentkeztettük, és csak egy másik e-mail-cím megerősítése után használható újra.',
    link_sent: 'Új linket küldtünk. Kérjük, nézze meg a postafiókját.',
    invitation_joined: 'Csatlakozott a szervezethez.',
    expired: 'A bejelentkezésre szánt idő lejárt. Kérjük, jelentkezzen be újra.',
    mail_requested_again: 'Megkaptuk a kérését. Néhány percbe telhet, amíg az e-mail megérkezik.',
    device_signed_out: 'Az eszközt kijelentkeztettük.',
    device_removed: 'Az eszközt eltávolítottuk.',
    device_untrusted:
      'Az eszköz többé nem megbízható. A következő bejelentkezéshez kétlépcsős kódra lesz szükség rajta.',
    device_renamed: 'A nevet elmentettük.',
    session_ended: 'A bejelentkezést megszüntettük.',
    signed_out_elsewhere: 'Minden más eszközről kijelentkeztettük.',
    app_removed: 'Az alkalmazás többé nem fér hozzá a fiókjához.',
    app_signed_out: 'Kijelentkeztettük az alkalmazásból.',
  },
  signedInNotices: {
    password_reset: 'A jelszava megváltozott.',
    invitation_accepted: 'Csatlakozott a szervezethez.',
  },
  signOutNow: 'Kijelentkezés',
  back: 'Vissza a bejelentkezéshez',
  signIn: {
    title: 'Bejelentkezés',
    to: (client) => `Tovább ide: ${client}`,
    remember: 'Maradjak bejelentkezve ezen az eszközön',
    submit: 'Bejelentkezés',
    forgot: 'Elfelejtette a jelszavát?',
    isNew: 'Még nincs fiókja?',
    register: 'Fiók létrehozása',
  },
  twoFactor: {
    title: 'Kétlépcsős azonosítás',
    lead: 'Adja meg a hitelesítő alkalmazásban látható 6 jegyű kódot vagy az egyik helyreállítási kódját.',
    trust: (time) => `Ezen az eszközön ne kérjen kódot ${hungarianSpan(time)}`,
    submit: 'Tovább',
  },
  pin: {
    title: 'Adja meg a PIN-kódját',
    lead: 'A munkamenet zárolva van, amíg meg nem adja a 6 jegyű PIN-kódját.',
    submit: 'Feloldás',
  },
  forgot: {
    title: 'Elfelejtette a jelszavát?',
    lead: 'Adja meg az e-mail-címét. Ha tartozik hozzá fiók, küldünk egy linket, amellyel új jelszót állíthat be.',
    again: 'Új link kérése',
    submit: 'Link küldése',
  },
  reset: {
    title: 'Új jelszó beállítása',
    lead: (email) => `Fiók: ${email}. Minden eszközén kijelentkeztetjük.`,
    submit: 'Jelszó mentése',
  },
  change: {
    title: 'Jelszó módosítása',
    lead: 'Itt bejelentkezve marad, mindenhol máshol kijelentkeztetjük.',
    forced: 'A folytatáshoz új jelszót kell beállítania.',
    submit: 'Jelszó mentése',
  },
  register: {
    title: 'Fiók létrehozása',
    submit: 'Fiók létrehozása',
    hasAccount: 'Már van fiókja?',
  },
  mailSent: {
    title: 'Nézze meg a postafiókját',
    reset: 'Ha tartozik fiók ehhez a címhez, elküldtük rá a linket az új jelszó beállításához.',
    registration:
      'Küldtünk Önnek egy e-mailt. A regisztráció befejezéséhez kövesse a benne leírtakat.',
    verification: 'Ha ez a cím még megerősítésre vár, elküldtük rá az új linket.',
    nothing: 'Nem érkezett meg? Eltarthat néhány percig. Nézze meg a levélszemét mappát is.',
    sentTo: 'Cím:',
    again: 'Küldés újra',
    correct: 'Másik e-mail-cím megadása',
  },
  verify: {
    title: 'Erősítse meg az e-mail-címét',
    lead: (email: string) =>
      `A regisztráció befejezéséhez erősítse meg, hogy ez az e-mail-cím az Öné: ${email}.`,
    submit: 'E-mail-cím megerősítése',
    resend: 'Új link küldése',
    resendLead: 'Adja meg az e-mail-címét, és küldünk egy újat.',
  },
  claim: {
    title: 'Ez az Ön fiókja?',
    lead: (email: string) => `Valaki regisztrált a(z) ${email} címmel, de nem ebben a böngészőben.`,
    choose:
      'Ha Ön volt az, ellenőrizze az adatait, és válasszon jelszót. Ez a regisztrációkor megadott jelszó helyébe lép, és minden más eszközön kijelentkeztetjük.',
    submit: 'Megerősítés és jelszó mentése',
    notMe: 'Nem én regisztráltam',
  },
  result: {
    title: 'Kész',
    other: (user: string) =>
      `Továbbra is ezzel a fiókkal van bejelentkezve: ${user}. A másik fiók használatához előbb jelentkezzen ki.`,
  },
  disown: {
    title: 'Törli ezt a fiókot?',
    lead: (email: string) =>
      `Valaki más regisztrált ezzel az e-mail-címmel: ${email}. A fiókot minden adatával együtt töröljük.`,
    submit: 'Fiók törlése',
  },
  confirmEmail: {
    title: 'Erősítse meg az e-mail-címét',
    lead: (email: string) =>
      `Elküldtünk egy linket erre a címre: ${email}. A fiók használatához nyissa meg ebben a böngészőben.`,
    correct:
      'Nem kapott levelet? Ellenőrizze, és ha kell, javítsa a címet, és küldünk egy új linket.',
    submit: 'Új link küldése',
    done: 'Már megerősítette?',
    goOn: 'Tovább',
  },
  invitation: {
    title: (tenant) => `Csatlakozás: ${tenant}`,
    lead: (email) => `A meghívó erre a címre szól: ${email}.`,
    choose: 'Válasszon jelszót a fiókjához.',
    submit: 'Meghívó elfogadása',
    signIn: 'Már van fiókja. A meghívás elfogadásához jelentkezzen be.',
    other: (user: string, invited: string) =>
      `Ön most ezzel a fiókkal van bejelentkezve: ${user}. A meghívó azonban erre a címre szól: ${invited}. Az elfogadáshoz jelentkezzen be azzal a fiókkal.`,
  },
  consent: {
    title: (client) => `${client} hozzáférést kér a fiókjához`,
    signedInAs: (who) => `Bejelentkezve mint ${who}.`,
    notYou: 'Nem Ön az?',
    lead: (client) => `Ha engedélyezi, ${client} az Ön nevében a következőkre lesz jogosult:`,
    leadIn: (client, tenant) =>
      `Ha engedélyezi, ${client} az Ön nevében a következőkre lesz jogosult itt: ${tenant}`,
    limit:
      'Az alkalmazás soha nem tehet többet, mint amire Ön jogosult. Az engedélyt bármikor visszavonhatja.',
    scopes: {
      api: 'Láthat és módosíthat mindent, amit Ön láthat és módosíthat',
      openid: 'Azonosíthatja Önt',
      profile: 'Láthatja a nevét, a képét, a nyelvét és az időzónáját',
      email: 'Láthatja az e-mail-címét',
      phone: 'Láthatja a telefonszámát',
      offline_access: 'Távollétében is hozzáférhet, amíg Ön ki nem jelentkezik',
    },
    goesTo: (place) => `Ezután átirányítjuk ide: ${place}.`,
    accept: 'Engedélyezés',
    refuse: 'Elutasítás',
  },
  selectAccount: {
    title: 'Válasszon fiókot',
    lead: (client) => `Továbblépés ide: ${client}`,
    signedInAs: (who) => `Bejelentkezve mint ${who}.`,
    goOn: (name) => `Folytatás mint ${name}`,
    other: 'Másik fiók használata',
  },
  goOn: {
    title: 'Egy pillanat…',
    lead: 'Visszairányítjuk az alkalmazáshoz.',
    link: 'Tovább',
  },
  root: {
    title: 'Fiókok és bejelentkezés',
    lead: 'Ez a szolgáltatás kezeli a fiókokat, a szervezeteket és a jogosultságokat.',
    reference: 'API-dokumentáció',
    health: 'A szolgáltatás állapota',
  },
  reauthentication: {
    title: 'Erősítse meg, hogy Ön az',
    lead: 'Biztonsága érdekében a folytatáshoz adja meg a jelszavát.',
    leadCode:
      'Biztonsága érdekében a folytatáshoz adja meg a hitelesítő alkalmazás kódját vagy egy helyreállító kódot.',
    byCode: 'Inkább kódot adok meg',
    byPassword: 'Inkább jelszót adok meg',
    submit: 'Folytatás',
  },
  account,
  signOut: {
    title: 'Kijelentkezik?',
    lead: 'Ezzel azokból az alkalmazásokból is kijelentkezik, amelyeket ebből a böngészőből nyitott meg.',
  },
  signedOut: {
    title: 'Kijelentkezett',
    lead: 'Viszontlátásra!',
    idle: 'Inaktivitás miatt kijelentkeztettük.',
    again: 'Bejelentkezés újra',
  },
  failure: {
    title: 'Hiba történt',
    notFoundTitle: 'Az oldal nem található',
    badRequest:
      'Az alkalmazás, ahonnan érkezett, érvénytelen kérést küldött. Lépjen vissza, és próbálja újra. Ha a hiba ismétlődik, forduljon az alkalmazás üzemeltetőjéhez.',
    forbidden: 'Nincs jogosultsága ehhez a művelethez.',
    notFound: 'Ez az oldal nem létezik, vagy eltávolították.',
    notAllowed: 'Ez az oldal így nem használható.',
    tooMany: 'Túl sok kérés',
    unavailable: 'A szolgáltatás átmenetileg nem érhető el. Kérjük, próbálja újra egy perc múlva.',
    internal: 'A hiba a mi oldalunkon van. Rögzítettük; kérjük, próbálja újra később.',
    reference: 'Hivatkozási szám',
  },
  idle: {
    title: 'Itt van még?',
    lead: 'Inaktivitás miatt hamarosan kijelentkeztetjük. Hátralévő másodpercek:',
    stay: 'Bejelentkezve maradok',
    leave: 'Kijelentkezés most',
  },
};
