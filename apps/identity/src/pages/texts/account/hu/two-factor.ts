import { hungarianSpan } from '../../../../mail/texts/format.ts';
import type { TwoFactorTexts } from '../en/two-factor.ts';

export const twoFactor: TwoFactorTexts = {
  title: 'Kétlépcsős azonosítás',
  off: 'Kikapcsolva',
  offLead:
    'Egészítse ki a bejelentkezést egy második lépéssel: a jelszava után egy kódot is megad, amelyet a telefonján egy alkalmazás mutat. Így az sem tud belépni, aki megtudja a jelszavát.',
  needs:
    'Szüksége lesz egy hitelesítő alkalmazásra, például a Google Authenticatorra, a Microsoft Authenticatorra vagy az 1Passwordre. Körülbelül két percet vesz igénybe.',
  begin: 'Beállítás',
  onLead: 'A jelszavával és a hitelesítő alkalmazás kódjával jelentkezik be.',
  since: 'Bekapcsolva',
  codesLeft: 'Megmaradt helyreállítási kódok',
  runningLow:
    'Kevés helyreállítási kódja maradt. Hozzon létre újakat, hogy a telefonja nélkül is be tudjon jelentkezni.',
  noCodes:
    'Nem maradt helyreállítási kódja. Hozzon létre újakat: nélkülük és a telefonja nélkül nem tud bejelentkezni.',
  newCodes: 'Új helyreállítási kódok',
  remove: 'Kikapcsolás',
  trusted: (time) => `A megbízható eszközein ${hungarianSpan(time)} nem kérünk kódot.`,
  seeDevices: 'Eszközök megtekintése',
  setUp: {
    title: 'A kétlépcsős azonosítás beállítása',
    scan: 'Olvassa be ezt a QR-kódot a hitelesítő alkalmazással',
    qrCode: 'QR-kód a hitelesítő alkalmazáshoz tartozó kulccsal',
    cannotScan: 'Nem tudja beolvasni a kódot?',
    openApp: 'Megnyitás az ezen az eszközön lévő alkalmazásban',
    byHand: 'Vagy írja be ezeket az adatokat az alkalmazásba:',
    account: 'Fiók',
    key: 'Kulcs',
    kind: 'Időalapú, 6 számjegy',
    enter: 'Írja be az alkalmazásban látható kódot',
    hint: '6 számjegy. A kód 30 másodpercenként változik.',
    submit: 'Bekapcsolás',
    cancel: 'Mégse',
  },
  codes: {
    title: 'Mentse el a helyreállítási kódjait',
    lead: 'Ha elveszíti a telefonját, ezek a kódok egy-egy bejelentkezésre használhatók. Csak most láthatók.',
    advice:
      'Tartsa őket olyan helyen, amelyhez csak Ön fér hozzá, például jelszókezelőben vagy papíron.',
    list: 'Helyreállítási kódok',
    download: 'Letöltés',
    copy: 'Másolás',
    copied: 'Másolva',
    print: 'Nyomtatás',
    file: (brand, account) => `Helyreállítási kódok – ${brand}, ${account}`,
    once: 'Minden kód egyszer használható.',
    fileName: 'helyreallitasi-kodok',
    submit: 'Kész',
  },
  replace: {
    title: 'Új helyreállítási kódokat hoz létre?',
    lead: 'A jelenlegi helyreállítási kódjai azonnal érvényüket vesztik, azok is, amelyeket még nem használt fel.',
    submit: 'Új kódok létrehozása',
    keep: 'Jelenlegi kódok megtartása',
  },
  turnOff: {
    title: 'Kikapcsolja a kétlépcsős azonosítást?',
    lead: 'Ezután a jelszava egyedül is elég lesz a bejelentkezéshez.',
    effects:
      'A helyreállítási kódjai érvényüket vesztik, és a hitelesítő alkalmazásból törölheti a bejegyzést. Ha újra bekapcsolja, új QR-kódot kap.',
    submit: 'Kikapcsolás',
    keep: 'Maradjon bekapcsolva',
  },
};
