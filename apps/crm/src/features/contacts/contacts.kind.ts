import {
  anything,
  clearable,
  described,
  email,
  list,
  mapOf,
  named,
  optional,
  reference,
  shape,
  text,
  uuid,
  withDefault,
} from '@tessera/fields';
import { HttpError } from '@tessera/http-kit';
import { equalTo, timeFilters, timeSort } from '../../records/filters.ts';
import { answerOf, declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { Address, AddressInput } from '../addresses.schema.ts';
import { customFields } from '../custom-fields/custom-fields.service.ts';
import { taggedWith } from '../tags/tag-filter.ts';
import { tagLimit } from '../tags/tag-limit.ts';
import { tag, tags } from '../tags.schema.ts';
import { emailFilter } from './email-filter.ts';
import { MAX_NOTES } from './merged-notes.ts';
import { type ContactMerge, findMerge } from './merges.repository.ts';
import { isReversible } from './merges.rules.ts';

const label = text(50);
const few = { max: 20 };

const ContactInput = named(
  'ContactInput',
  shape({
    first_name: text(100),
    last_name: clearable(text(100)),
    email: clearable(email()),
    phone: clearable(text(50)),
    title: clearable(text(100)),
    company_id: clearable(reference('companies')),
    owner_id: clearable(uuid()),
    notes: clearable(text(MAX_NOTES)),
    tags,
    emails: withDefault(list(named('LabelledEmail', shape({ label, email: email() })), few), []),
    phones: withDefault(list(named('LabelledPhone', shape({ label, phone: text(50) })), few), []),
    addresses: withDefault(list(AddressInput, few), []),
    custom: described(
      optional(mapOf(anything())),
      'Values of custom fields by key. Keys that are left out stay as they are; null removes a value.',
    ),
  }),
);

/** The survivor of a merge, and what to do instead of restoring the other contact. */
const remedyOf = (merge: ContactMerge): string => {
  const { survivor_id: survivor, is_survivor_live: isLive } = merge;
  if (!isReversible(merge)) return `${survivor}, and the merge is older than 30 days.`;
  return isLive
    ? `${survivor}: undo the merge instead.`
    : `${survivor}, which is deleted: restore that contact, and undo the merge.`;
};

export const contact = declareKind({
  table: 'contacts',
  name: 'contact',
  permissions: 'contacts',
  create: ContactInput,
  answer: answerOf('Contact', ContactInput, { addresses: list(Address, few) }),
  sort: { name: 'sort_name', email: 'email', ...timeSort },
  defaultSort: '-created_at',
  constraints: tagLimit('contacts'),
  filters: {
    email: emailFilter,
    ...equalTo(ContactInput, 'company_id', 'owner_id'),
    tag: taggedWith('contacts', tag),
    ...timeFilters,
  },
  search: true,
  rules: {
    async restore({ db, row }) {
      const merge = await findMerge(db, row.id);
      if (!merge) return;
      throw new HttpError(409, 'conflict', `The contact is merged into ${remedyOf(merge)}`);
    },
  },
  tenantFields: customFields,
});

export type Contacts = RecordsOf<typeof contact>;
