import type { DataTexts } from '../en/data.ts';

export const data: DataTexts = {
  title: 'Ihre Daten',
  lead: 'Laden Sie herunter, was wir über Sie speichern, oder löschen Sie Ihr Konto.',
  banner: (moment) => `Ihr Konto wird am ${moment} gelöscht.`,
  keep: 'Konto behalten',
  download: {
    title: 'Ihre Daten herunterladen',
    summary: 'Sie erhalten eine Kopie aller Daten, die wir über Sie speichern, in einer Datei.',
    open: 'Daten herunterladen',
    lead: 'Sie erhalten eine Datei im JSON-Format, das andere Dienste und Programme lesen können.',
    contents:
      'Sie enthält Ihr Profil, Ihre Organisationen und Rollen, Geräte, Sitzungen, verbundene Apps, Sicherheitseinstellungen und Ihre gesamte Aktivität.',
    without:
      'Passwörter und andere Geheimnisse sowie personenbezogene Daten anderer sind nicht enthalten. Ihre Organisationen führen eigene Aufzeichnungen, die Sie dort anfordern können.',
    care: 'Die Datei ist persönlich. Speichern Sie sie dort, wo nur Sie sie öffnen können.',
    submit: 'Herunterladen',
  },
  deletion: {
    title: 'Konto löschen',
    summary: 'Ihr Konto und die zugehörigen personenbezogenen Daten werden endgültig gelöscht.',
    open: 'Konto löschen',
    untilThen: 'Bis dahin können Sie es wie gewohnt nutzen und es sich jederzeit anders überlegen.',
    back: 'Zurück zu Ihren Daten',
    confirm: {
      title: 'Konto löschen?',
      lead: (moment) => `Wir löschen Ihr Konto am ${moment}. Sie verlieren:`,
      losses: [
        'Ihr Profil, Ihre Anmeldung und Ihre Sicherheitseinstellungen',
        'Ihre Mitgliedschaft in allen Organisationen',
        'Ihre Geräte, Sitzungen, verbundenen Apps und Ihre Aktivität',
      ],
      untilThen:
        'Bis dahin funktioniert Ihr Konto wie gewohnt, und Sie können es jederzeit behalten. Danach lässt es sich nicht wiederherstellen. Organisationen behalten ohne Ihren Namen, was Sie dort erstellt haben.',
      downloadFirst: 'Zuerst Daten herunterladen',
      submit: 'Mein Konto löschen',
    },
    blocked: {
      title: 'Sie können Ihr Konto noch nicht löschen',
      lead: 'Niemand könnte Ihre Aufgaben übernehmen:',
      lastOwner:
        'Sie sind der letzte Inhaber dieser Organisation. Machen Sie ein anderes Mitglied zum Inhaber oder bitten Sie den Betreiber dieses Dienstes, die Organisation zu löschen.',
      lastAdministrator:
        'Sie sind der letzte Administrator dieses Dienstes. Machen Sie jemand anderen zum Administrator.',
      afterwards: 'Kehren Sie danach auf diese Seite zurück.',
    },
  },
};
