import type { AppsTexts } from '../en/apps.ts';

export const apps: AppsTexts = {
  title: 'Verbundene Apps',
  lead: 'Apps, die auf Ihr Konto zugreifen können, und was sie dürfen.',
  emptyTitle: 'Noch keine Apps',
  empty:
    'Keine App hat Zugriff auf Ihr Konto. Apps erscheinen hier, sobald Sie sich bei ihnen anmelden oder ihnen Zugriff gewähren.',
  allowed: 'Apps, denen Sie Zugriff gewährt haben',
  allowedLead: 'Sie können den Zugriff jederzeit entziehen.',
  signedIn: 'Apps, bei denen Sie angemeldet sind',
  signedInLead:
    'Ihre Organisation oder dieser Dienst vertraut diesen Apps, deshalb haben sie Sie nicht um Erlaubnis gebeten.',
  kinds: {
    first_party: (brand) => `Betrieben von ${brand}`,
    tenant: (owner) => `Betrieben von ${owner}`,
    third_party: 'App eines anderen Anbieters',
  },
  tenant: (name) => `Organisation: ${name}`,
  since: 'Seit:',
  lastUsed: 'Zuletzt verwendet:',
  notUsed: 'Derzeit nicht angemeldet',
  can: 'Sie darf:',
  withdraw: 'Zugriff entziehen',
  signOut: 'Abmelden',
  withdrawPage: {
    title: (app) => `${app} den Zugriff entziehen?`,
    lead: (app) =>
      `${app} wird sofort auf allen Geräten von Ihrem Konto abgemeldet und darf nicht mehr:`,
    hint: (app) =>
      `Daten, die ${app} bereits erhalten hat, bleiben beim Anbieter. Um die App wieder zu verwenden, müssen Sie ihr erneut Zugriff gewähren.`,
  },
  signOutPage: {
    title: (app) => `Von ${app} abmelden?`,
    lead: (app) => `Sie werden sofort auf allen Geräten von ${app} abgemeldet.`,
    hint: (app) =>
      `Solange Sie hier angemeldet sind, kann ${app} Sie beim Öffnen ohne Passwort wieder anmelden.`,
  },
  cancel: 'Abbrechen',
};
