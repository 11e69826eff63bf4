import type { TenantFields } from '../../records/tenant-fields.ts';
import {
  type DeclaredField,
  declarations,
  declaredKeys,
  declaredSince,
  lockDeclarations,
} from './custom-fields.repository.ts';
import { filterField, valueField } from './field-types.ts';

const fieldOf = ({ key, type, choices, is_required, is_filterable }: DeclaredField) => ({
  key,
  field: valueField(type, choices),
  filter: filterField(type, choices),
  isRequired: is_required,
  isFilterable: is_filterable,
});

/** The custom fields of contacts. */
export const customFields: TenantFields = {
  column: 'custom',
  declared: async (db) => (await declarations(db)).map(fieldOf),
  declaredKeys,
  declaredSince,
  async declaredFor(change) {
    await lockDeclarations(change, 'shared');
    return (await declarations(change)).map(fieldOf);
  },
};
