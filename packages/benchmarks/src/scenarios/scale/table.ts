/** A table of CRM that hand-written statements read. */
export interface Table {
  readonly name: 'contacts' | 'companies';
  /** The columns that a response needs. */
  readonly columns: string;
}

const common =
  'id, version, created_at, updated_at, email, phone, owner_id, notes, tags, addresses';

export const contacts: Table = {
  name: 'contacts',
  columns: `${common}, first_name, last_name, title, company_id, emails, phones, custom`,
};

export const companies: Table = {
  name: 'companies',
  columns: `${common}, name, domain, tax_number, industry`,
};

/** The values of the parameter `sort` that are measured, and their columns. */
export const sorts = { '-created_at': 'created_at DESC, id DESC', name: 'sort_name, id' } as const;

export type Sort = keyof typeof sorts;

export const PER_PAGE = 25;

/** What a list counts at most (`meta.total`). */
export const COUNTED = 10_000;
