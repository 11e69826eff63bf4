import type { Seen } from '../mails.ts';
import { deviceName, duration, moment } from './format.ts';
import type { Texts } from './texts.ts';

const lasting = (seconds: number): string =>
  `Der Link ist ${duration('de', seconds)} lang gültig und kann nur einmal verwendet werden.`;

const hello = (name: string | null): string => (name ? `Guten Tag ${name},` : 'Guten Tag,');

/** Where and when something was done. */
const seenBy = ({ device, ipAddress, at, timeZone }: Seen): string => {
  const name = deviceName(device, (browser, os) => `${browser} unter ${os}`, 'Unbekanntes Gerät');
  return `${name}${ipAddress ? `, IP-Adresse ${ipAddress}` : ''}, ${moment('de', at, timeZone)}.`;
};

const codesLeft = (left: number): string =>
  left === 0
    ? 'Sie haben keine Wiederherstellungscodes mehr. Erstellen Sie neue in Ihrem Konto unter „Zwei-Faktor-Authentifizierung“.'
    : `Sie haben noch ${left} ${left === 1 ? 'Wiederherstellungscode' : 'Wiederherstellungscodes'}.`;

export const de: Texts = {
  copyTheAddress:
    'Falls die Schaltfläche nicht funktioniert, kopieren Sie diesen Link in Ihren Browser:',
  whyThisMail:
    'Diese E-Mail wurde automatisch versendet. Bitte antworten Sie nicht darauf, Antworten werden nicht gelesen.',
  mails: {
    email_verification: ({ lifetime }) => ({
      subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
      greeting: 'Guten Tag,',
      paragraphs: ['bitte bestätigen Sie, dass diese E-Mail-Adresse Ihnen gehört.'],
      action: 'E-Mail-Adresse bestätigen',
      notes: [
        `Der Link ist ${duration('de', lifetime)} lang gültig.`,
        'Falls Sie sich nicht registriert haben, können Sie diese E-Mail ignorieren. Ohne Ihre Bestätigung verwenden wir Ihre Adresse nicht.',
      ],
    }),
    password_reset: ({ firstName, lifetime }) => ({
      subject: 'Neues Passwort festlegen',
      greeting: hello(firstName),
      paragraphs: [
        'wir haben eine Anfrage erhalten, das Passwort für Ihr Konto zurückzusetzen.',
        'Hier können Sie ein neues Passwort festlegen. Danach werden Sie auf allen Geräten abgemeldet.',
      ],
      action: 'Neues Passwort festlegen',
      notes: [
        lasting(lifetime),
        'Falls die Anfrage nicht von Ihnen stammt, können Sie diese E-Mail ignorieren. Ihr Passwort bleibt unverändert.',
      ],
    }),
    password_changed: ({ firstName }) => ({
      subject: 'Ihr Passwort wurde geändert',
      greeting: hello(firstName),
      paragraphs: [
        'das Passwort für Ihr Konto wurde soeben geändert.',
        'Falls Sie das nicht waren, legen Sie sofort ein neues Passwort fest und wenden Sie sich an Ihren Administrator.',
      ],
      action: 'Neues Passwort festlegen',
      notes: ['Falls Sie das Passwort selbst geändert haben, müssen Sie nichts weiter tun.'],
    }),
    new_device: ({ firstName, ...seen }) => ({
      subject: 'Neue Anmeldung bei Ihrem Konto',
      greeting: hello(firstName),
      paragraphs: [
        'jemand hat sich von einem bisher unbekannten Gerät bei Ihrem Konto angemeldet:',
        seenBy(seen),
        'Falls Sie das nicht waren, öffnen Sie Ihre letzten Aktivitäten und wählen Sie „Das war ich nicht“. Sie können dann ein neues Passwort festlegen und alle Geräte abmelden.',
      ],
      action: 'Letzte Aktivitäten prüfen',
      notes: ['Falls Sie das waren, müssen Sie nichts weiter tun.'],
    }),
    new_network: ({ firstName, ...seen }) => ({
      subject: 'Anmeldung aus einem neuen Netzwerk',
      greeting: hello(firstName),
      paragraphs: [
        'jemand hat sich auf einem Ihrer Geräte angemeldet, und zwar aus einem Netzwerk, das dieses Gerät bisher nicht verwendet hat:',
        seenBy(seen),
        'Falls Sie das nicht waren, öffnen Sie Ihre letzten Aktivitäten und wählen Sie „Das war ich nicht“. Sie können dann ein neues Passwort festlegen und alle Geräte abmelden.',
      ],
      action: 'Letzte Aktivitäten prüfen',
      notes: ['Falls Sie das waren, müssen Sie nichts weiter tun.'],
    }),
    factor_added: ({ firstName, factor, ...seen }) => ({
      subject: { two_factor: 'Zwei-Faktor-Authentifizierung aktiviert', pin: 'PIN eingerichtet' }[
        factor
      ],
      greeting: hello(firstName),
      paragraphs: [
        {
          two_factor: 'für Ihr Konto wurde die Zwei-Faktor-Authentifizierung aktiviert:',
          pin: 'für Ihr Konto wurde eine PIN eingerichtet:',
        }[factor],
        seenBy(seen),
        'Falls Sie das nicht waren, öffnen Sie Ihre letzten Aktivitäten und wählen Sie „Das war ich nicht“. Falls Sie sich nicht mehr anmelden können, wenden Sie sich an Ihren Administrator.',
      ],
      action: 'Letzte Aktivitäten prüfen',
      notes: ['Falls Sie das waren, müssen Sie nichts weiter tun.'],
    }),
    factor_removed: ({ firstName, factor, seen }) => ({
      subject: { two_factor: 'Zwei-Faktor-Authentifizierung deaktiviert', pin: 'PIN entfernt' }[
        factor
      ],
      greeting: hello(firstName),
      paragraphs: seen
        ? [
            {
              two_factor: 'die Zwei-Faktor-Authentifizierung für Ihr Konto wurde deaktiviert:',
              pin: 'die PIN für Ihr Konto wurde entfernt:',
            }[factor],
            seenBy(seen),
            'Falls Sie das nicht waren, öffnen Sie Ihre letzten Aktivitäten und wählen Sie „Das war ich nicht“. Falls Sie sich nicht mehr anmelden können, wenden Sie sich an Ihren Administrator.',
          ]
        : [
            {
              two_factor:
                'ein Administrator hat die Zwei-Faktor-Authentifizierung für Ihr Konto deaktiviert, und Sie wurden auf allen Geräten abgemeldet.',
              pin: 'ein Administrator hat die PIN für Ihr Konto entfernt, und Sie wurden auf allen Geräten abgemeldet.',
            }[factor],
            'Falls Sie nicht darum gebeten haben, wenden Sie sich an Ihren Administrator.',
          ],
      action: seen ? 'Letzte Aktivitäten prüfen' : 'Neu einrichten',
      notes: [
        seen
          ? 'Falls Sie das waren, müssen Sie nichts weiter tun.'
          : 'Falls Sie darum gebeten haben, müssen Sie nichts weiter tun. Wir empfehlen, den Schutz neu einzurichten.',
      ],
    }),
    recovery_code_used: ({ firstName, left, ...seen }) => ({
      subject: 'Ein Wiederherstellungscode wurde verwendet',
      greeting: hello(firstName),
      paragraphs: [
        'jemand hat sich mit einem Ihrer Wiederherstellungscodes bei Ihrem Konto angemeldet:',
        seenBy(seen),
        codesLeft(left),
        'Falls Sie das nicht waren, öffnen Sie Ihre letzten Aktivitäten und wählen Sie „Das war ich nicht“. Falls Sie sich nicht mehr anmelden können, wenden Sie sich an Ihren Administrator.',
      ],
      action: 'Letzte Aktivitäten prüfen',
      notes: ['Falls Sie das waren, müssen Sie nichts weiter tun.'],
    }),
    recovery_codes_replaced: ({ firstName, ...seen }) => ({
      subject: 'Ihre Wiederherstellungscodes wurden ersetzt',
      greeting: hello(firstName),
      paragraphs: [
        'für Ihr Konto wurden neue Wiederherstellungscodes erstellt. Die bisherigen sind nicht mehr gültig:',
        seenBy(seen),
        'Falls Sie das nicht waren, öffnen Sie Ihre letzten Aktivitäten und wählen Sie „Das war ich nicht“. Falls Sie sich nicht mehr anmelden können, wenden Sie sich an Ihren Administrator.',
      ],
      action: 'Letzte Aktivitäten prüfen',
      notes: ['Falls Sie das waren, müssen Sie nichts weiter tun.'],
    }),
    pin_changed: ({ firstName, ...seen }) => ({
      subject: 'Ihre PIN wurde geändert',
      greeting: hello(firstName),
      paragraphs: [
        'die PIN für Ihr Konto wurde geändert:',
        seenBy(seen),
        'Falls Sie das nicht waren, öffnen Sie Ihre letzten Aktivitäten und wählen Sie „Das war ich nicht“. Falls Sie sich nicht mehr anmelden können, wenden Sie sich an Ihren Administrator.',
      ],
      action: 'Letzte Aktivitäten prüfen',
      notes: ['Falls Sie das waren, müssen Sie nichts weiter tun.'],
    }),
    account_secured: ({ firstName, by, ...seen }) => ({
      subject: 'Ihr Konto wurde gesichert',
      greeting: hello(firstName),
      paragraphs: [
        'Sie haben Aktivität in Ihrem Konto gemeldet, die nicht von Ihnen stammt:',
        seenBy(seen),
        {
          password:
            'Ihr Passwort wurde geändert, und alle anderen Geräte und Apps wurden abgemeldet. Kein Gerät überspringt mehr die Zwei-Faktor-Authentifizierung.',
          link: 'Alle anderen Geräte und Apps wurden abgemeldet, und kein Gerät überspringt mehr die Zwei-Faktor-Authentifizierung. Den Link für ein neues Passwort haben wir Ihnen in einer eigenen E-Mail geschickt.',
        }[by],
      ],
      action: 'Aktivität ansehen',
      notes: [
        'Falls die Meldung nicht von Ihnen kam, legen Sie sofort ein neues Passwort fest und wenden Sie sich an Ihren Administrator.',
      ],
    }),
    tenant_left: ({ firstName, tenant, ...seen }) => ({
      subject: `Sie haben ${tenant} verlassen`,
      greeting: hello(firstName),
      paragraphs: [
        `Sie sind kein Mitglied von ${tenant} mehr:`,
        seenBy(seen),
        'Um zurückzukehren, lassen Sie sich von jemandem aus der Organisation einladen. Falls Sie das nicht waren, sichern Sie sofort Ihr Konto.',
      ],
      action: 'Das war ich nicht',
      notes: ['Falls Sie das waren, müssen Sie nichts weiter tun.'],
    }),
    email_changed: ({ firstName, newEmail }) => ({
      subject: 'Ihre E-Mail-Adresse wurde geändert',
      greeting: hello(firstName),
      paragraphs: [
        `die E-Mail-Adresse für Ihr Konto lautet jetzt ${newEmail}.`,
        'Falls Sie das nicht waren, legen Sie sofort ein neues Passwort fest und wenden Sie sich an Ihren Administrator.',
      ],
      action: 'Neues Passwort festlegen',
      notes: ['Falls Sie das waren, müssen Sie nichts weiter tun.'],
    }),
    email_change: ({ lifetime }) => ({
      subject: 'Bestätigen Sie Ihre neue E-Mail-Adresse',
      greeting: 'Guten Tag,',
      paragraphs: [
        'Sie möchten diese E-Mail-Adresse für Ihr Konto verwenden. Bitte bestätigen Sie, dass sie Ihnen gehört.',
        'Bis dahin behält Ihr Konto die bisherige Adresse.',
      ],
      action: 'Neue Adresse bestätigen',
      notes: [
        lasting(lifetime),
        'Falls die Anfrage nicht von Ihnen stammt, können Sie diese E-Mail ignorieren. Ohne Ihre Bestätigung verwenden wir Ihre Adresse nicht.',
      ],
    }),
    email_change_requested: ({ firstName, newEmail, ...seen }) => ({
      subject: 'Ihre E-Mail-Adresse soll geändert werden',
      greeting: hello(firstName),
      paragraphs: [
        `jemand hat sich bei Ihrem Konto angemeldet und möchte die E-Mail-Adresse in ${newEmail} ändern:`,
        seenBy(seen),
        'Bisher hat sich nichts geändert. Falls Sie das nicht waren, brechen Sie die Änderung in Ihrem Profil ab und legen Sie sofort ein neues Passwort fest.',
      ],
      action: 'Profil öffnen',
      notes: [
        'Falls Sie das waren, öffnen Sie den Link, den wir an die neue Adresse gesendet haben.',
      ],
    }),
    email_change_taken: ({ firstName }) => ({
      subject: 'Ihre E-Mail-Adresse gehört bereits zu einem Konto',
      greeting: hello(firstName),
      paragraphs: [
        'jemand, vermutlich Sie selbst, wollte diese E-Mail-Adresse für ein anderes Konto verwenden. Sie gehört bereits zu Ihrem Konto, deshalb hat sich nichts geändert.',
        'Um sie für das andere Konto zu verwenden, ändern Sie zuerst die Adresse dieses Kontos.',
      ],
      action: 'Konto öffnen',
      notes: [
        'Falls Sie das nicht waren, können Sie diese E-Mail ignorieren. An Ihrem Konto hat sich nichts geändert.',
      ],
    }),
    email_replaced: ({ firstName, newEmail, lifetime }) => ({
      subject: 'Die E-Mail-Adresse Ihres Kontos wurde geändert',
      greeting: hello(firstName),
      paragraphs: [
        `die E-Mail-Adresse für Ihr Konto lautet jetzt ${newEmail}. Mit dieser Adresse können Sie sich nicht mehr anmelden.`,
        'Falls Sie das nicht waren, machen Sie die Änderung rückgängig. Wir stellen diese Adresse wieder her, melden alle Geräte ab und lassen Sie ein neues Passwort festlegen.',
      ],
      action: 'Änderung rückgängig machen',
      notes: [lasting(lifetime), 'Falls Sie das waren, müssen Sie nichts weiter tun.'],
    }),
    email_restored: ({ firstName, email }) => ({
      subject: 'Die Änderung Ihrer E-Mail-Adresse wurde rückgängig gemacht',
      greeting: hello(firstName),
      paragraphs: [
        `die E-Mail-Adresse für Ihr Konto lautet wieder ${email}. Die Änderung wurde mit dem Link rückgängig gemacht, den wir an diese Adresse gesendet haben.`,
        'Alle Geräte wurden abgemeldet, das bisherige Passwort gilt nicht mehr, und eine seither eingerichtete Zwei-Faktor-Authentifizierung oder PIN wurde entfernt.',
      ],
      action: 'Neues Passwort festlegen',
      notes: ['Falls Sie das nicht waren, wenden Sie sich an Ihren Administrator.'],
    }),
    data_exported: ({ firstName, ...seen }) => ({
      subject: 'Ihre Daten wurden heruntergeladen',
      greeting: hello(firstName),
      paragraphs: [
        'jemand hat eine Kopie der personenbezogenen Daten Ihres Kontos heruntergeladen:',
        seenBy(seen),
        'Falls Sie das nicht waren, legen Sie sofort ein neues Passwort fest und wenden Sie sich an Ihren Administrator.',
      ],
      action: 'Neues Passwort festlegen',
      notes: ['Falls Sie das waren, müssen Sie nichts weiter tun.'],
    }),
    account_deletion_requested: ({ firstName, dueAt, ...seen }) => ({
      subject: 'Ihr Konto wird gelöscht',
      greeting: hello(firstName),
      paragraphs: [
        `Ihr Konto und die zugehörigen Daten werden am ${moment('de', dueAt, seen.timeZone)} gelöscht. Der Auftrag kam von hier:`,
        seenBy(seen),
        'Bis dahin können Sie Ihr Konto wie gewohnt nutzen und es sich jederzeit anders überlegen. Melden Sie sich dazu an und wählen Sie „Konto behalten“.',
      ],
      action: 'Konto behalten',
      notes: [
        'Wenn Sie Ihr Konto löschen möchten, müssen Sie nichts weiter tun.',
        'Falls der Auftrag nicht von Ihnen stammt, behalten Sie Ihr Konto und legen Sie sofort ein neues Passwort fest.',
      ],
    }),
    account_deletion_reminder: ({ firstName, dueAt, timeZone }) => ({
      subject: 'Ihr Konto wird bald gelöscht',
      greeting: hello(firstName),
      paragraphs: [
        `wie gewünscht werden Ihr Konto und die zugehörigen Daten am ${moment('de', dueAt, timeZone)} gelöscht. Das lässt sich nicht rückgängig machen.`,
        'Falls Sie es sich anders überlegt haben, melden Sie sich vorher an und wählen Sie „Konto behalten“.',
      ],
      action: 'Konto behalten',
      notes: ['Wenn Sie Ihr Konto weiterhin löschen möchten, müssen Sie nichts weiter tun.'],
    }),
    account_deletion_refused: ({ firstName, tenants, isLastAdministrator }) => ({
      subject: 'Ihr Konto konnte nicht gelöscht werden',
      greeting: hello(firstName),
      paragraphs: [
        'Sie wollten Ihr Konto löschen. Wir haben es behalten, weil niemand Ihre Aufgaben übernehmen könnte:',
        [
          ...tenants.map((name) => `Sie sind der letzte Inhaber von ${name}.`),
          ...(isLastAdministrator ? ['Sie sind der letzte Administrator dieses Dienstes.'] : []),
        ].join(' '),
      ],
      action: 'Zum Konto',
      notes: [
        'Übertragen Sie diese Rolle auf jemand anderen und löschen Sie Ihr Konto danach erneut.',
      ],
    }),
    account_deleted: ({ firstName }) => ({
      subject: 'Ihr Konto wurde gelöscht',
      greeting: hello(firstName),
      paragraphs: [
        'wie gewünscht haben wir Ihr Konto und die zugehörigen personenbezogenen Daten gelöscht.',
      ],
      notes: ['Dies ist unsere letzte Nachricht an diese Adresse.'],
    }),
    address_taken: ({ firstName }) => ({
      subject: 'Sie haben bereits ein Konto',
      greeting: hello(firstName),
      paragraphs: [
        'jemand, vermutlich Sie selbst, wollte sich mit dieser E-Mail-Adresse registrieren. Zu ihr gibt es bereits ein Konto, deshalb haben wir kein neues erstellt.',
        'Melden Sie sich wie gewohnt an. Falls Sie Ihr Passwort vergessen haben, legen Sie ein neues fest.',
      ],
      action: 'Neues Passwort festlegen',
      notes: [
        'Falls Sie das nicht waren, können Sie diese E-Mail ignorieren. An Ihrem Konto hat sich nichts geändert.',
      ],
    }),
    invitation: ({ tenant, inviter, lifetime }) => ({
      subject: `Einladung zu ${tenant}`,
      greeting: 'Guten Tag,',
      paragraphs: [
        inviter
          ? `${inviter} hat Sie eingeladen, ${tenant} beizutreten.`
          : `Sie wurden eingeladen, ${tenant} beizutreten.`,
      ],
      action: 'Einladung annehmen',
      notes: [
        lasting(lifetime),
        'Falls Sie diese Einladung nicht erwartet haben, können Sie diese E-Mail ignorieren.',
      ],
    }),
  },
};
