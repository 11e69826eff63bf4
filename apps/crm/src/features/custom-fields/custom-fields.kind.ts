import {
  bool,
  described,
  int,
  list,
  matching,
  named,
  oneOf,
  optional,
  shape,
  text,
  withDefault,
} from '@tessera/fields';
import { equals } from '../../records/filters.ts';
import { answerOf, declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { assertChoices, lockFields, refuseTypeChange } from './custom-fields.rules.ts';
import { fieldTypes, MAX_CHOICE } from './field-types.ts';

const key = matching(
  /^[a-z][a-z0-9_]*$/,
  'lower-case letters, digits and _, and begin with a letter',
  40,
);

const declared = {
  label: described(text(100), 'The name that forms show', 'Tier'),
  type: described(oneOf(...fieldTypes), 'It does not change', 'text'),
  choices: described(
    withDefault(list(text(MAX_CHOICE), { max: 100, unique: true }), []),
    'The values of a field of the type `choice`; empty for other types. Contacts keep a choice that is removed, until they get another one',
    [],
  ),
  is_filterable: described(
    withDefault(bool(), false),
    'Whether contacts can be filtered by `custom.<key>`',
  ),
  is_required: described(
    withDefault(bool(), false),
    'Whether new contacts need a value; existing ones can lack it until it is set',
    false,
  ),
  position: described(withDefault(int(0, 10_000), 0), 'Forms show fields in this order'),
};

const CustomFieldInput = named(
  'CustomFieldInput',
  shape({
    key: described(key, 'The key of the values in `custom`; it does not change', 'tier'),
    ...declared,
  }),
);

const CustomFieldUpdate = named(
  'CustomFieldUpdate',
  shape({
    label: optional(declared.label),
    type: optional(declared.type),
    choices: optional(declared.choices),
    is_filterable: optional(declared.is_filterable),
    is_required: optional(declared.is_required),
    position: optional(declared.position),
  }),
);

/** The maximum number of custom fields of a tenant. */
const MAX_FIELDS = 100;

export const customField = declareKind({
  table: 'custom_fields',
  name: 'custom field',
  permissions: 'custom_fields',
  create: CustomFieldInput,
  update: CustomFieldUpdate,
  answer: answerOf('CustomField', CustomFieldInput, { type: declared.type }),
  sort: { position: 'position' },
  defaultSort: 'position',
  filters: { type: equals('type', oneOf(...fieldTypes)) },
  maximum: MAX_FIELDS,
  rules: {
    async create(input, { db }) {
      await lockFields(db);
      assertChoices(input);
      return {};
    },
    async update(change, { db, row }) {
      refuseTypeChange(row.type, change.type);
      await lockFields(db);
      assertChoices({ ...row, ...change });
      return {};
    },
    delete: ({ db }) => lockFields(db),
  },
});

export type CustomFields = RecordsOf<typeof customField>;
