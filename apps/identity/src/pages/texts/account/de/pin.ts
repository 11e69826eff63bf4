import type { PinTexts } from '../en/pin.ts';

export const pin: PinTexts = {
  title: 'PIN',
  lead: 'Eine PIN sperrt Ihre Sitzung nach der Anmeldung: In Ihrem Konto öffnet sich nichts, bis Sie sie eingeben. Das schützt Sie auch dann, wenn jemand Ihr Passwort erfährt.',
  rules: 'Verwenden Sie 6 Ziffern, nicht sechsmal dieselbe und keine Reihe wie 123456.',
  newPin: 'Neue PIN',
  set: 'PIN einrichten',
  isOn: 'Ihre PIN ist eingerichtet. Sie werden bei jeder Anmeldung danach gefragt.',
  since: 'In Verwendung seit',
  locked: (when) =>
    `Die PIN wurde zu oft falsch eingegeben. Sie können sie ${when} wieder verwenden.`,
  goToChange: 'PIN ändern',
  goToRemove: 'PIN entfernen',
  change: {
    title: 'PIN ändern',
    lead: 'Bei der nächsten Anmeldung werden Sie nach der neuen PIN gefragt.',
    submit: 'PIN ändern',
    forgotten:
      'PIN vergessen? Entfernen Sie sie mit Ihrem Passwort und richten Sie dann eine neue ein.',
  },
  remove: {
    title: 'PIN entfernen?',
    lead: 'Nach der Anmeldung werden Sie nicht mehr nach einer PIN gefragt. Sitzungen, die noch auf die PIN warten, werden abgemeldet.',
    submit: 'PIN entfernen',
    keep: 'PIN behalten',
  },
};
