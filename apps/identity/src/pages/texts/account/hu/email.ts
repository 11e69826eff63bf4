import type { EmailTexts } from '../en/email.ts';

export const email: EmailTexts = {
  title: 'E-mail-cím módosítása',
  lead: (current) =>
    `Linket küldünk az új címre. Amíg meg nem nyitja, ezzel a címmel jelentkezhet be: ${current}.`,
  newAddress: 'Új e-mail-cím',
  submit: 'Link küldése',
  undo: 'A jelenlegi címét is értesítjük. A módosítás onnan néhány napig visszavonható.',
  back: 'Vissza a profilhoz',
  pendingTitle: 'Megerősítésre vár',
  pending: (address, until) =>
    `Linket küldtünk ide: ${address}. A link érvényessége: ${until}. Az e-mail-címe akkor változik meg, ha megnyitja.`,
  resend: 'Újraküldés',
  cancel: 'Módosítás visszavonása',
};
