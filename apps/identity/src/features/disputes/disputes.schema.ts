import { described, named, optional, shape, uuid, verbatim } from '@tessera/fields';

export const activity_id = described(
  optional(uuid()),
  'The disputed entry; omit it to dispute activity in general',
);

const password = verbatim(1000, 0);

export const DisputeActivity = named(
  'DisputeActivity',
  shape({
    activity_id,
    current_password: password,
    new_password: password,
    new_password_confirmation: password,
  }),
);
