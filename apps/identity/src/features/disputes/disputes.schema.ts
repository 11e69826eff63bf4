import { described, named, optional, rawText, shape, uuid } from '@tessera/fields';

export const activity_id = described(
  optional(uuid()),
  'The disputed entry; omit it to dispute activity in general',
);

const password = rawText(1000, 0);

export const DisputeActivity = named(
  'DisputeActivity',
  shape({
    activity_id,
    current_password: password,
    new_password: password,
    new_password_confirmation: password,
  }),
);
