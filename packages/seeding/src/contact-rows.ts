import type { Row } from './copy.ts';
import { createRandom } from './random.ts';
import { recordKinds } from './records.ts';

/** Columns of contacts without company, owner and custom fields, such as a file to import has; the same each time. */
export const contactRows = (count: number, email: (number: number) => string): Row[] => {
  const random = createRandom(1);
  const none = { users: [], companies: [], contacts: [], projects: [] };
  const now = new Date();
  return Array.from({ length: count }, (_none, number) => {
    const { company_id, owner_id, custom, ...columns } = recordKinds.contacts.row(
      random,
      { ...none, language: 'hu' },
      now,
    );
    return { ...columns, email: email(number) };
  });
};
