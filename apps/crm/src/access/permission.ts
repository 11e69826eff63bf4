type Verb = 'list' | 'view' | 'create' | 'update' | 'delete';

/** A permission of CRM without its tenant. */
export type CrmPermission = `contacts.${Verb}`;
