import { account } from './account/de/account.ts';
import type { Texts } from './texts.ts';
import { waiting } from './waiting.ts';

export const de: Texts = {
  name: 'Deutsch',
  isFamilyNameFirst: false,
  error: 'Fehler',
  language: 'Sprache',
  show: 'Anzeigen',
  hide: 'Verbergen',
  labels: {
    email: 'E-Mail-Adresse',
    password: 'Passwort',
    password_confirmation: 'Passwort bestätigen',
    current_password: 'Aktuelles Passwort',
    new_password: 'Neues Passwort',
    new_password_confirmation: 'Neues Passwort bestätigen',
    code: 'Code',
    pin: 'PIN',
    current_pin: 'Aktuelle PIN',
    pin_confirmation: 'PIN bestätigen',
    saved: 'Ich habe diese Codes gespeichert',
    first_name: 'Vorname',
    last_name: 'Nachname',
    tenant_name: 'Name Ihrer Firma oder Ihres Teams',
    device_name: 'Name des Geräts',
    locale: 'Sprache',
    timezone: 'Zeitzone',
    phone: 'Telefonnummer',
    picture: 'Bilddatei',
  },
  problems: {
    email: 'Geben Sie eine gültige E-Mail-Adresse ein, zum Beispiel ada@example.com.',
    password: 'Geben Sie ein Passwort ein.',
    password_confirmation: 'Die Passwörter stimmen nicht überein.',
    current_password: 'Das aktuelle Passwort ist falsch.',
    new_password: 'Geben Sie ein neues Passwort ein.',
    new_password_confirmation: 'Die Passwörter stimmen nicht überein.',
    code: 'Der Code ist falsch, abgelaufen oder wurde bereits verwendet.',
    pin: 'Die PIN ist falsch. Sie besteht aus 6 Ziffern.',
    current_pin: 'Geben Sie Ihre aktuelle PIN ein. Sie besteht aus 6 Ziffern.',
    pin_confirmation: 'Die PINs stimmen nicht überein.',
    saved: 'Speichern Sie zuerst die Codes und setzen Sie dann das Häkchen.',
    first_name: 'Geben Sie Ihren Vornamen ein.',
    last_name: 'Geben Sie Ihren Nachnamen ein.',
    tenant_name: 'Geben Sie einen Namen ein.',
    device_name: 'Geben Sie einen Namen mit höchstens 100 Zeichen ein.',
    locale: 'Wählen Sie eine Sprache.',
    timezone: 'Wählen Sie eine Zeitzone.',
    phone:
      'Geben Sie eine Telefonnummer ein, zum Beispiel +36 1 234 5678, oder lassen Sie das Feld leer.',
    picture:
      'Wählen Sie ein JPEG-, PNG-, WebP- oder GIF-Bild mit höchstens 10 MB und 50 Megapixeln.',
    token: 'Dieser Link ist ungültig oder abgelaufen. Fordern Sie einen neuen an.',
    other: 'Dieser Wert ist ungültig.',
  },
  rules: {
    too_long: 'Verwenden Sie höchstens 72 Zeichen. Umlaute und Emojis zählen mehrfach.',
    too_short: (least) => `Verwenden Sie mindestens ${least} Zeichen.`,
    uppercase: 'Verwenden Sie mindestens einen Großbuchstaben.',
    lowercase: 'Verwenden Sie mindestens einen Kleinbuchstaben.',
    digit: 'Verwenden Sie mindestens eine Ziffer.',
    special: 'Verwenden Sie mindestens ein Sonderzeichen, zum Beispiel ! oder -.',
    common:
      'Wählen Sie ein weniger gebräuchliches Passwort. Ziffern oder Zeichen am Ende reichen nicht aus.',
    has_address: 'Verwenden Sie nicht Ihre E-Mail-Adresse im Passwort.',
    has_name: 'Verwenden Sie nicht Ihren Namen im Passwort.',
    has_brand: 'Verwenden Sie nicht den Namen dieses Dienstes im Passwort.',
    reused: 'Dieses Passwort haben Sie schon einmal verwendet. Wählen Sie ein anderes.',
  },
  reasons: {
    wrong_password: 'Das Passwort ist falsch.',
    wrong_pin: 'Die aktuelle PIN ist falsch.',
    pin_repeated: 'Verwenden Sie nicht sechsmal dieselbe Ziffer.',
    pin_run: 'Verwenden Sie keine aufeinanderfolgenden Ziffern wie 123456.',
    pin_unchanged: 'Das ist Ihre aktuelle PIN. Wählen Sie eine andere.',
  },
  ruleList: {
    too_short: (least) => `Mindestens ${least} Zeichen`,
    too_long: 'Höchstens 72 Zeichen (Umlaute und Emojis zählen mehrfach)',
    uppercase: 'Ein Großbuchstabe',
    lowercase: 'Ein Kleinbuchstabe',
    digit: 'Eine Ziffer',
    special: 'Ein Sonderzeichen, zum Beispiel ! oder -',
    match: 'In beiden Feldern gleich',
    met: 'Erfüllt:',
    unmet: 'Fehlt:',
    allMet: 'Das Passwort erfüllt diese Regeln.',
  },
  ruleHint: (least) =>
    `Mindestens ${least} Zeichen, darunter Groß- und Kleinbuchstaben, eine Ziffer und ein Sonderzeichen.`,
  alerts: {
    lastOwner:
      'Diese Organisation hätte dann keinen Inhaber mehr. Machen Sie zuerst ein anderes Mitglied zum Inhaber.',
    credentials: 'E-Mail-Adresse oder Passwort ist falsch.',
    tooMany: (seconds) =>
      `Zu viele Versuche. Versuchen Sie es ${waiting('de', seconds)} noch einmal.`,
    forged:
      'Wir konnten nicht prüfen, ob diese Anfrage von unserer Seite stammt. Bitte versuchen Sie es noch einmal.',
    conflict: 'In der Zwischenzeit hat sich etwas geändert. Bitte versuchen Sie es noch einmal.',
    fields: 'Bitte überprüfen Sie die markierten Felder.',
    addressTaken:
      'Diese E-Mail-Adresse gehört bereits zu einem anderen Konto. Melden Sie sich bei jenem Konto an oder wählen Sie eine andere Adresse.',
  },
  notices: {
    tenant_switched: 'Sie haben die Organisation gewechselt.',
    tenant_left:
      'Sie haben die Organisation verlassen. Zur Bestätigung haben wir Ihnen eine E-Mail geschickt.',
    two_factor_on: 'Die Zwei-Faktor-Authentifizierung ist eingeschaltet.',
    two_factor_off: 'Die Zwei-Faktor-Authentifizierung ist ausgeschaltet.',
    recovery_codes_unseen:
      'Die Zwei-Faktor-Authentifizierung ist bereits eingeschaltet. Wenn Sie Ihre Wiederherstellungscodes nicht gespeichert haben, erstellen Sie neue.',
    recovery_codes_saved: 'Ihre neuen Wiederherstellungscodes sind gültig, die alten nicht mehr.',
    pin_set: 'Ihre PIN ist eingerichtet. Sie werden bei der nächsten Anmeldung danach gefragt.',
    pin_changed: 'Ihre PIN wurde geändert.',
    pin_removed: 'Ihre PIN wurde entfernt.',
    password_reset: 'Ihr Passwort wurde geändert. Melden Sie sich mit dem neuen Passwort an.',
    password_changed: 'Ihr Passwort wurde geändert. Überall sonst wurden Sie abgemeldet.',
    email_verified: 'Ihre E-Mail-Adresse ist bestätigt.',
    invitation_accepted:
      'Sie sind der Organisation beigetreten. Melden Sie sich an, um loszulegen.',
    account_disowned: 'Das Konto wurde gelöscht. Ihre E-Mail-Adresse wird nicht mehr verwendet.',
    account_signed_out:
      'Das Konto gehört einem Mitglied einer Organisation und wurde deshalb nicht gelöscht. Es wurde überall abgemeldet und lässt sich erst wieder verwenden, wenn eine andere E-Mail-Adresse bestätigt wurde.',
    account_kept: 'Ihr Konto wird nicht gelöscht.',
    deletion_scheduled: 'Die Löschung ist geplant. Wir haben Ihnen eine E-Mail gesendet.',
    link_sent: 'Wir haben Ihnen einen neuen Link geschickt. Bitte prüfen Sie Ihr Postfach.',
    invitation_joined: 'Sie sind der Organisation beigetreten.',
    expired: 'Die Anmeldung ist abgelaufen. Bitte melden Sie sich erneut an.',
    mail_requested_again:
      'Wir haben Ihre Anfrage erhalten. Es kann ein paar Minuten dauern, bis die E-Mail ankommt.',
    device_signed_out: 'Das Gerät wurde abgemeldet.',
    device_removed: 'Das Gerät wurde entfernt.',
    device_untrusted:
      'Das Gerät ist nicht mehr vertrauenswürdig. Für die nächste Anmeldung darauf ist ein Zwei-Faktor-Code nötig.',
    device_renamed: 'Der Name wurde gespeichert.',
    session_ended: 'Die Anmeldung wurde beendet.',
    signed_out_elsewhere: 'Sie wurden überall sonst abgemeldet.',
    app_removed: 'Die App hat keinen Zugriff mehr auf Ihr Konto.',
    app_signed_out: 'Sie wurden von der App abgemeldet.',
    profile_saved: 'Ihr Profil wurde gespeichert.',
    picture_saved: 'Ihr Bild wurde gespeichert.',
    picture_removed: 'Ihr Bild wurde entfernt.',
    email_change_requested:
      'Sehen Sie in Ihr neues Postfach. Ihre E-Mail-Adresse ändert sich, sobald Sie den Link öffnen, den wir dorthin gesendet haben, und die neue Adresse bestätigen.',
    email_change_canceled: 'Ihre E-Mail-Adresse bleibt unverändert.',
    email_unchanged: 'Das ist bereits Ihre E-Mail-Adresse.',
    email_changed: 'Ihre E-Mail-Adresse wurde geändert.',
    email_restored:
      'Ihre E-Mail-Adresse wurde wiederhergestellt und alle Geräte wurden abgemeldet. Legen Sie ein neues Passwort fest, um sich wieder anzumelden.',
  },
  signedInNotices: {
    invitation_accepted: 'Sie sind der Organisation beigetreten.',
  },
  signOutNow: 'Abmelden',
  back: 'Zurück zur Anmeldung',
  signIn: {
    title: 'Anmelden',
    to: (client) => `Weiter zu ${client}`,
    remember: 'Auf diesem Gerät angemeldet bleiben',
    submit: 'Anmelden',
    forgot: 'Passwort vergessen?',
    isNew: 'Neu hier?',
    register: 'Konto erstellen',
  },
  twoFactor: {
    title: 'Zwei-Faktor-Authentifizierung',
    lead: 'Geben Sie den 6-stelligen Code aus Ihrer Authenticator-App oder einen Ihrer Wiederherstellungscodes ein.',
    trust: (time) => `Diesem Gerät ${time} lang vertrauen`,
    submit: 'Weiter',
  },
  pin: {
    title: 'PIN eingeben',
    lead: 'Ihre Sitzung ist gesperrt, bis Sie Ihre 6-stellige PIN eingeben.',
    submit: 'Entsperren',
  },
  forgot: {
    title: 'Passwort vergessen?',
    lead: 'Geben Sie Ihre E-Mail-Adresse ein. Falls Sie ein Konto haben, senden wir Ihnen einen Link, über den Sie ein neues Passwort festlegen können.',
    again: 'Neuen Link anfordern',
    submit: 'Link senden',
  },
  reset: {
    title: 'Neues Passwort festlegen',
    lead: (email) => `Für ${email}. Sie werden auf allen Geräten abgemeldet.`,
    submit: 'Passwort speichern',
  },
  change: {
    title: 'Passwort ändern',
    lead: 'Hier bleiben Sie angemeldet, überall sonst werden Sie abgemeldet.',
    forced: 'Bevor es weitergeht, müssen Sie ein neues Passwort festlegen.',
    submit: 'Passwort speichern',
  },
  register: {
    title: 'Konto erstellen',
    submit: 'Konto erstellen',
    hasAccount: 'Haben Sie schon ein Konto?',
  },
  mailSent: {
    title: 'Sehen Sie in Ihrem Postfach nach',
    reset:
      'Falls es zu dieser Adresse ein Konto gibt, haben wir einen Link gesendet, über den Sie ein neues Passwort festlegen können.',
    registration:
      'Wir haben Ihnen eine E-Mail gesendet. Folgen Sie den Schritten darin, um die Registrierung abzuschließen.',
    verification:
      'Falls diese Adresse noch bestätigt werden muss, haben wir einen neuen Link gesendet.',
    nothing:
      'Noch keine E-Mail erhalten? Das kann ein paar Minuten dauern. Sehen Sie auch im Spam-Ordner nach.',
    sentTo: 'Adresse:',
    again: 'Erneut senden',
    correct: 'Andere E-Mail-Adresse verwenden',
  },
  verify: {
    title: 'E-Mail-Adresse bestätigen',
    lead: (email: string) =>
      `Um die Registrierung abzuschließen, bestätigen Sie, dass ${email} Ihre E-Mail-Adresse ist.`,
    submit: 'E-Mail-Adresse bestätigen',
    resend: 'Neuen Link senden',
    resendLead: 'Geben Sie Ihre E-Mail-Adresse ein, dann senden wir Ihnen einen neuen.',
  },
  claim: {
    title: 'Ist das Ihr Konto?',
    lead: (email: string) =>
      `Mit ${email} wurde ein Konto registriert, allerdings nicht in diesem Browser.`,
    choose:
      'Wenn Sie das waren, prüfen Sie Ihre Angaben und wählen Sie ein Passwort. Es ersetzt das Passwort aus der Registrierung, und alle anderen Geräte werden abgemeldet.',
    submit: 'Bestätigen und Passwort speichern',
    notMe: 'Ich habe mich nicht registriert',
  },
  result: {
    title: 'Fertig',
    other: (user: string) =>
      `Sie sind weiterhin als ${user} angemeldet. Melden Sie sich ab, um das andere Konto zu verwenden.`,
  },
  disown: {
    title: 'Dieses Konto löschen?',
    lead: (email: string) =>
      `Jemand anderes hat sich mit ${email} registriert. Wir löschen das Konto mit allen Daten.`,
    submit: 'Konto löschen',
  },
  emailChange: {
    title: 'Bestätigen Sie Ihre neue E-Mail-Adresse',
    lead: (email) => `Soll Ihr Konto ab jetzt die Adresse ${email} verwenden?`,
    submit: 'Neue Adresse bestätigen',
    goOn: 'Weiter',
    undo: {
      title: 'Änderung Ihrer E-Mail-Adresse rückgängig machen?',
      lead: (email) => `Ihr Konto erhält wieder die Adresse ${email}.`,
      points: [
        'Alle Geräte werden abgemeldet.',
        'Das aktuelle Passwort wird ungültig. Auf der nächsten Seite legen Sie ein neues fest.',
        'Eine seit der Änderung eingerichtete Zwei-Faktor-Authentifizierung oder PIN wird entfernt.',
      ],
      submit: 'Änderung rückgängig machen',
    },
  },
  confirmEmail: {
    title: 'E-Mail-Adresse bestätigen',
    lead: (email: string) =>
      `Wir haben einen Link an ${email} geschickt. Öffnen Sie ihn in diesem Browser, um Ihr Konto zu nutzen.`,
    correct:
      'Keine E-Mail erhalten? Prüfen und korrigieren Sie die Adresse, dann schicken wir Ihnen einen neuen Link.',
    submit: 'Neuen Link senden',
    done: 'Schon bestätigt?',
    goOn: 'Weiter',
  },
  invitation: {
    title: (tenant) => `${tenant} beitreten`,
    lead: (email) => `Sie wurden unter der Adresse ${email} eingeladen.`,
    choose: 'Legen Sie ein Passwort für Ihr Konto fest.',
    submit: 'Einladung annehmen',
    signIn: 'Sie haben bereits ein Konto. Melden Sie sich an, um die Einladung anzunehmen.',
    other: (user: string, invited: string) =>
      `Sie sind als ${user} angemeldet, die Einladung gilt aber für ${invited}. Melden Sie sich mit diesem Konto an, um sie anzunehmen.`,
  },
  consent: {
    title: (client) => `${client} möchte auf Ihr Konto zugreifen`,
    signedInAs: (who) => `Sie sind als ${who} angemeldet.`,
    notYou: 'Nicht Sie?',
    lead: (client) => `Wenn Sie zustimmen, darf ${client} in Ihrem Namen Folgendes:`,
    leadIn: (client, tenant) =>
      `Wenn Sie zustimmen, darf ${client} in Ihrem Namen in ${tenant} Folgendes:`,
    alsoShared: (tenant) =>
      `Die Anwendung sieht außerdem die ID Ihres Kontos sowie den Namen und den Tarif von ${tenant}.`,
    limit:
      'Die Anwendung darf nie mehr als Sie selbst. Sie können den Zugriff jederzeit widerrufen.',
    scopes: {
      api: 'Alles sehen und ändern, was Sie selbst sehen und ändern dürfen',
      openid: 'Ihre Identität feststellen',
      profile: 'Ihren Namen, Ihr Bild, Ihre Sprache und Ihre Zeitzone sehen',
      email: 'Ihre E-Mail-Adresse sehen',
      phone: 'Ihre Telefonnummer sehen',
      offline_access: 'Auch in Ihrer Abwesenheit zugreifen, bis Sie sich abmelden',
    },
    goesTo: (place) => `Anschließend werden Sie zu ${place} weitergeleitet.`,
    accept: 'Zulassen',
    refuse: 'Ablehnen',
  },
  selectAccount: {
    title: 'Konto auswählen',
    lead: (client) => `um mit ${client} fortzufahren`,
    signedInAs: (who) => `Sie sind als ${who} angemeldet.`,
    goOn: (name) => `Weiter als ${name}`,
    other: 'Anderes Konto verwenden',
  },
  goOn: {
    title: 'Einen Moment …',
    lead: 'Wir leiten Sie zurück zu Ihrer App.',
    link: 'Weiter',
  },
  root: {
    title: 'Konten und Anmeldung',
    lead: 'Dieser Dienst verwaltet Konten, Organisationen und Berechtigungen.',
    reference: 'API-Referenz',
    health: 'Status des Dienstes',
  },
  reauthentication: {
    title: 'Bitte bestätigen Sie, dass Sie es sind',
    lead: 'Geben Sie zu Ihrer Sicherheit Ihr Passwort ein, um fortzufahren.',
    leadCode:
      'Geben Sie zu Ihrer Sicherheit den Code aus Ihrer Authenticator-App oder einen Wiederherstellungscode ein, um fortzufahren.',
    byCode: 'Stattdessen einen Code verwenden',
    byPassword: 'Stattdessen das Passwort verwenden',
    submit: 'Weiter',
  },
  account,
  signOut: {
    title: 'Möchten Sie sich abmelden?',
    lead: 'Damit werden Sie auch von den Apps abgemeldet, die Sie in diesem Browser geöffnet haben.',
  },
  signedOut: {
    title: 'Sie sind abgemeldet',
    lead: 'Bis bald!',
    idle: 'Sie wurden wegen Inaktivität abgemeldet.',
    again: 'Erneut anmelden',
  },
  failure: {
    title: 'Etwas ist schiefgelaufen',
    notFoundTitle: 'Seite nicht gefunden',
    badRequest:
      'Die App, über die Sie gekommen sind, hat eine ungültige Anfrage gesendet. Gehen Sie zurück und versuchen Sie es noch einmal. Falls das Problem weiterhin besteht, wenden Sie sich an den Betreiber der App.',
    forbidden: 'Dazu haben Sie keine Berechtigung.',
    notFound: 'Diese Seite gibt es nicht oder nicht mehr.',
    notAllowed: 'Diese Seite lässt sich so nicht verwenden.',
    tooMany: 'Zu viele Anfragen',
    unavailable:
      'Der Dienst ist vorübergehend nicht erreichbar. Bitte versuchen Sie es in einer Minute noch einmal.',
    internal:
      'Der Fehler liegt bei uns. Wir haben ihn erfasst; bitte versuchen Sie es später noch einmal.',
    reference: 'Fehlernummer',
  },
  idle: {
    title: 'Sind Sie noch da?',
    lead: 'Sie werden gleich wegen Inaktivität abgemeldet. Verbleibende Sekunden:',
    stay: 'Angemeldet bleiben',
    leave: 'Jetzt abmelden',
  },
};
