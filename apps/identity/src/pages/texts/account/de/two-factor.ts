import type { TwoFactorTexts } from '../en/two-factor.ts';

export const twoFactor: TwoFactorTexts = {
  title: 'Zwei-Faktor-Authentifizierung',
  off: 'Ausgeschaltet',
  offLead:
    'Ergänzen Sie Ihre Anmeldung um einen zweiten Schritt: Nach dem Passwort geben Sie einen Code aus einer App auf Ihrem Telefon ein. So kommt auch niemand hinein, der Ihr Passwort erfährt.',
  needs:
    'Sie brauchen eine Authenticator-App, zum Beispiel Google Authenticator, Microsoft Authenticator oder 1Password. Die Einrichtung dauert etwa zwei Minuten.',
  begin: 'Einrichten',
  onLead: 'Sie melden sich mit Ihrem Passwort und einem Code aus Ihrer Authenticator-App an.',
  since: 'Eingeschaltet seit',
  codesLeft: 'Verbleibende Wiederherstellungscodes',
  runningLow:
    'Sie haben nur noch wenige Wiederherstellungscodes. Erstellen Sie neue, damit Sie sich auch ohne Ihr Telefon anmelden können.',
  noCodes:
    'Sie haben keine Wiederherstellungscodes mehr. Erstellen Sie neue: Ohne sie und ohne Ihr Telefon können Sie sich nicht anmelden.',
  newCodes: 'Neue Wiederherstellungscodes erstellen',
  remove: 'Ausschalten',
  trusted: (time) =>
    `Auf vertrauenswürdigen Geräten werden Sie ${time} lang nicht nach einem Code gefragt.`,
  seeDevices: 'Geräte ansehen',
  setUp: {
    title: 'Zwei-Faktor-Authentifizierung einrichten',
    scan: 'Scannen Sie diesen QR-Code mit Ihrer Authenticator-App',
    qrCode: 'QR-Code mit dem Schlüssel für Ihre Authenticator-App',
    cannotScan: 'Der Code lässt sich nicht scannen?',
    openApp: 'In einer App auf diesem Gerät öffnen',
    byHand: 'Oder geben Sie diese Angaben in der App ein:',
    account: 'Konto',
    key: 'Schlüssel',
    kind: 'Zeitbasiert, 6 Ziffern',
    enter: 'Geben Sie den Code ein, den die App anzeigt',
    hint: '6 Ziffern. Der Code ändert sich alle 30 Sekunden.',
    submit: 'Einschalten',
    cancel: 'Abbrechen',
  },
  codes: {
    title: 'Speichern Sie Ihre Wiederherstellungscodes',
    lead: 'Wenn Sie Ihr Telefon verlieren, können Sie sich mit jedem dieser Codes einmal anmelden. Sie werden nur jetzt angezeigt.',
    advice:
      'Bewahren Sie sie dort auf, wo nur Sie darauf zugreifen können, zum Beispiel in einem Passwortmanager oder auf Papier.',
    list: 'Wiederherstellungscodes',
    download: 'Herunterladen',
    copy: 'Kopieren',
    copied: 'Kopiert',
    print: 'Drucken',
    file: (brand, account) => `Wiederherstellungscodes für ${account} bei ${brand}`,
    once: 'Jeder Code gilt einmal.',
    fileName: 'wiederherstellungscodes',
    submit: 'Fertig',
  },
  replace: {
    title: 'Neue Wiederherstellungscodes erstellen?',
    lead: 'Ihre bisherigen Wiederherstellungscodes werden sofort ungültig, auch die noch nicht verwendeten.',
    submit: 'Neue Codes erstellen',
    keep: 'Bisherige Codes behalten',
  },
  turnOff: {
    title: 'Zwei-Faktor-Authentifizierung ausschalten?',
    lead: 'Danach genügt Ihr Passwort allein, um sich anzumelden.',
    effects:
      'Ihre Wiederherstellungscodes werden ungültig, und Sie können den Eintrag in Ihrer Authenticator-App löschen. Wenn Sie sie wieder einschalten, erhalten Sie einen neuen QR-Code.',
    submit: 'Ausschalten',
    keep: 'Eingeschaltet lassen',
  },
};
