import type { EmailTexts } from '../en/email.ts';

export const email: EmailTexts = {
  title: 'E-mail-cím módosítása',
  lead: (current) =>
    `Linket küldünk az új címre. Amíg azzal meg nem erősíti az új címet, ezzel a címmel jelentkezhet be: ${current}.`,
  newAddress: 'Új e-mail-cím',
  submit: 'Link küldése',
  undo: 'A jelenlegi címét is értesítjük. A módosítás onnan néhány napig visszavonható.',
  back: 'Vissza a profilhoz',
  pendingTitle: 'Megerősítésre vár',
  pending: (address, until) =>
    `Linket küldtünk ide: ${address}. Eddig érvényes: ${until}. Az e-mail-címe akkor változik meg, ha megnyitja, és megerősíti az új címet.`,
  resend: 'Újraküldés',
  cancel: 'Módosítás visszavonása',
};
