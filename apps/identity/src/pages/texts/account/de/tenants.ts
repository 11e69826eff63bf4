import type { TenantsTexts } from '../en/tenants.ts';

export const tenants: TenantsTexts = {
  lead: 'Die Organisationen, denen Sie angehören, und Ihre Rolle darin.',
  none: 'Sie sind kein Mitglied einer Organisation. Sobald Sie jemand einlädt, erhalten Sie eine E-Mail mit einem Link.',
  roles: { owner: 'Inhaber', admin: 'Administrator', member: 'Mitglied', viewer: 'Betrachter' },
  role: (role) => `Rolle: ${role}`,
  since: (date) => `Mitglied seit ${date}`,
  current: 'Aktuell',
  states: {
    provisioning: {
      badge: 'Wird eingerichtet',
      hint: 'Diese Organisation wird noch eingerichtet. Sie können sie in Kürze nutzen.',
    },
    failed: {
      badge: 'Nicht bereit',
      hint: 'Diese Organisation konnte noch nicht eingerichtet werden. Wenden Sie sich an den Betreiber dieses Dienstes.',
    },
    suspended: {
      badge: 'Gesperrt',
      hint: 'Diese Organisation ist gesperrt. Niemand kann sie nutzen, bis sie wieder aktiviert wird.',
    },
    deleting: {
      badge: 'Wird gelöscht',
      hint: 'Diese Organisation wird gelöscht. Niemand kann sie mehr nutzen.',
    },
  },
  switch: 'Wechseln',
  switchTo: (tenant) => `Zu ${tenant} wechseln`,
  switchHint:
    'Ihre nächste Anmeldung beginnt in der aktuellen Organisation. Bereits geöffnete Apps bleiben, wo sie sind.',
  leave: 'Verlassen',
  leaveNamed: (tenant) => `${tenant} verlassen`,
  leaving: {
    title: (tenant) => `${tenant} verlassen?`,
    lead: 'Sie können nur zurückkehren, wenn Sie jemand erneut einlädt.',
    effects: 'Wenn Sie die Organisation verlassen:',
    effectList: [
      'Sie verlieren Ihre Rolle und den Zugriff auf alles in dieser Organisation.',
      'Apps und Geräte, die in dieser Organisation arbeiten, werden dort abgemeldet.',
      'Was Sie dort erstellt haben, bleibt der Organisation erhalten.',
    ],
    submit: 'Organisation verlassen',
    keep: 'Bleiben',
    lastOwner:
      'Sie sind der einzige Inhaber dieser Organisation und können sie deshalb noch nicht verlassen.',
    lastOwnerHelp:
      'Machen Sie zuerst ein anderes Mitglied zum Inhaber. Wird die Organisation nicht mehr gebraucht, bitten Sie Ihren Anbieter, sie zu löschen.',
  },
};
