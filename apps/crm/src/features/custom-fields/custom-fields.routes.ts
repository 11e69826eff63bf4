import type { Exports, RouteTable } from '@tessera/http-kit';
import { recordRoutes } from '../../records/routes.ts';
import { type CustomFields, customField } from './custom-fields.kind.ts';

/** The routes of the declarations of custom fields. */
export const customFieldRoutes = (customFields: CustomFields, exports: Exports): RouteTable => {
  const routes = recordRoutes(customField, customFields);
  return {
    listCustomFields: routes.list({
      description: 'The fields that the tenant has declared for contacts, as forms show them.',
    }),
    exportCustomFields: routes.export({ permission: 'custom_fields.export', exports }),
    createCustomField: routes.create({
      description:
        'A key is free again some seconds after the last value of a deleted field was removed.',
    }),
    getCustomField: routes.get(),
    updateCustomField: routes.update({
      description:
        'The key and the type stay: for others, delete the field and declare another one.',
    }),
    deleteCustomField: routes.delete({
      description:
        'Its values disappear at once and are removed in the background; until then, the search finds contacts by them. It cannot be restored.',
    }),
    listCustomFieldHistory: routes.history(),
  };
};
